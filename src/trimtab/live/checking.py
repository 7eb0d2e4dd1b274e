"""Whether code that is to be deployed is Python: asked of a process of its own, because compiling has no bounds.

In the gateway, 16 MB of assignments took more than a minute and 6 GB while everybody else waited.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE

from trimtab.live.failure import CallFailed

_SECONDS = 5
_BYTES = 2**30
_SCRIPT = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_BYTES}, {_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
try:
    compile(sys.stdin.buffer.read().decode(), "action.py", "exec", dont_inherit=True)
except MemoryError:
    sys.exit("it is too large or too deeply nested")
except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
    sys.exit(str(error) or type(error).__name__)
"""
_LONGEST_REASON = 500


async def check_code(code: str) -> None:
    """Compile, never run; ``CallFailed`` says why it is not Python."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", _SCRIPT, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, env={}
    )
    try:
        async with asyncio.timeout(2 * _SECONDS):
            _, words = await process.communicate(code.encode())
    except TimeoutError:
        words = b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        reason = words.decode(errors="replace").strip() or "it takes too long to compile"
        raise CallFailed(422, f"code is not Python: {reason[:_LONGEST_REASON]}")
