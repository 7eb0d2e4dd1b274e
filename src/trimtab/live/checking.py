"""Whether code that is to be deployed is Python, or a zip of it: asked of a process of its own.

Neither compiling nor unpacking has bounds: in the gateway, 16 MB of assignments took more than a minute and 6 GB while
everybody else waited, and the table of a zip with 180,000 entries more than a second.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE

from trimtab.live.failure import CallFailed
from trimtab.live.function import LARGEST_CODE, FunctionSpec

MOST_ENTRIES = 10_000
"""Files and folders in a zip."""
_LARGEST_TABLE = 4 * 2**20
"""Bytes of a zip's table of contents: its count of entries may lie, its size cannot."""
_SECONDS = 5
_BYTES = 2**30
_LIMITS = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_BYTES}, {_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
"""
_SCRIPT = f"""{_LIMITS}
try:
    compile(sys.stdin.buffer.read().decode(), "action.py", "exec", dont_inherit=True)
except MemoryError:
    sys.exit("it is too large or too deeply nested")
except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
    sys.exit(str(error) or type(error).__name__)
"""
_ZIP_SCRIPT = f"""{_LIMITS}
import base64, io, struct, zipfile
try:
    content = base64.b64decode(sys.stdin.buffer.read(), validate=True)
    if len(content) > {LARGEST_CODE}:
        sys.exit(f"it has {{len(content)}} bytes, must have at most {LARGEST_CODE}")
    end = content.rfind(b"PK\\5\\6", max(len(content) - 65_557, 0))
    if end >= 0 and len(content) >= end + 22:
        entries, size = struct.unpack_from("<HI", content, end + 10)
        if entries > {MOST_ENTRIES} or size > {_LARGEST_TABLE}:
            sys.exit("it has too many entries, must have at most {MOST_ENTRIES}")
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
except (ValueError, zipfile.BadZipFile, NotImplementedError, EOFError, OSError) as error:
    sys.exit(f"it is not a zip in base64: {{error}}")
if len(names) > {MOST_ENTRIES}:
    sys.exit(f"it has {{len(names)}} entries, must have at most {MOST_ENTRIES}")
if "__main__.py" not in names:
    sys.exit("it holds no __main__.py, must")
"""
_LONGEST_REASON = 500


async def check_source(spec: FunctionSpec) -> None:
    """Whether what a deployment carries can be deployed."""
    if spec.code is not None:
        await check_code(spec.code)
    if spec.zip is not None:
        await check_zip(spec.zip)


async def check_code(code: str) -> None:
    """Compile, never run; ``CallFailed`` says why it is not Python."""
    text = code.encode()
    if len(text) > LARGEST_CODE:
        raise CallFailed(422, f"code has {len(text)} bytes, must have at most {LARGEST_CODE}")
    reason = await _ask(_SCRIPT, text, "it takes too long to compile")
    if reason is not None:
        raise CallFailed(422, f"code is not Python: {reason}")


async def check_zip(text: str) -> None:
    """Read its table of contents; ``CallFailed`` says why it will not do."""
    reason = await _ask(_ZIP_SCRIPT, text.encode(), "it takes too long to read")
    if reason is not None:
        raise CallFailed(422, f"zip: {reason}")


async def _ask(script: str, data: bytes, late: str) -> str | None:
    """What a process of its own complains about; None if nothing."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", script, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, env={}
    )
    try:
        async with asyncio.timeout(2 * _SECONDS):
            _, words = await process.communicate(data)
    except TimeoutError:
        words = b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return None
    return (words.decode(errors="replace").strip() or late)[:_LONGEST_REASON]
