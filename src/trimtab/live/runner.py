"""What runs inside an instance: OpenWhisk's action contract (``/init``, ``/run``) on the socket that it is given.

Started as ``python -I -S runner.pyc CONCURRENCY [SITE-PACKAGES ...]``, with the listening socket as descriptor 3.
It imports as little as it can, because every import is part of a cold start, and knows nothing of Trimtab.
"""

import _socket
import json
import os
import sys

MARK = b"XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX\n"
LONGEST_HEAD = 65_536
HOME = os.environ.get("TMPDIR", "/tmp") + "/action"
function = None


def serve(connection):
    """Answer requests on one connection until the other side closes it."""
    rest = b""
    while True:
        while b"\r\n\r\n" not in rest:
            more = connection.recv(65_536)
            if not more or len(rest) > LONGEST_HEAD:
                return
            rest += more
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        parts = [rest]
        missing = length - len(rest)
        while missing > 0:
            more = connection.recv(min(missing, 1 << 20))
            if not more:
                return
            parts.append(more)
            missing -= len(more)
        body = b"".join(parts)
        body, rest = body[:length], body[length:]
        status, answer = handle(head.split(b" ", 2)[1], body)
        end_activation()
        connection.sendall(
            b"HTTP/1.1 %d -\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (status, len(answer), answer)
        )


def handle(path, body):
    """Status and JSON of one request."""
    try:
        message = json.loads(body)
        if path == b"/init":
            return initialise(message["value"])
        if path == b"/run":
            return run(message)
        return 404, b'{"error": "there is no such path"}'
    except BaseException as error:
        if not isinstance(error, Exception) and not isinstance(error, SystemExit):
            raise
        # its own trace is for the function's log, not for the caller
        sys.excepthook(type(error), error, error.__traceback__)
        text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode()  # a lone surrogate is no text
        return 502, json.dumps({"error": text}).encode()


def initialise(value):
    """Load the function: text of a module, or a zip with ``__main__.py``."""
    global function
    if function is not None:
        return 403, b'{"error": "cannot initialise the action more than once"}'
    code = value.get("code")
    if not code:
        return 403, b'{"error": "there is no code"}'
    os.environ.update({str(name): str(each) for name, each in value.get("env", {}).items()})
    os.makedirs(HOME, exist_ok=True)
    os.chdir(HOME)
    sys.path.insert(0, HOME)
    name = "action.py"
    if value.get("binary"):
        import base64
        import io
        import zipfile

        zipfile.ZipFile(io.BytesIO(base64.b64decode(code))).extractall(HOME)
        name = "__main__.py"
        with open(f"{HOME}/{name}", encoding="utf-8") as file:
            code = file.read()
    module = type(sys)("action")
    module.__file__ = f"{HOME}/{name}"
    sys.modules["action"] = module
    exec(compile(code, module.__file__, "exec"), module.__dict__)
    found = getattr(module, value.get("main") or "main", None)
    if not callable(found):
        return 502, json.dumps({"error": f"there is no function {value.get('main') or 'main'!r}"}).encode()
    function = found
    return 200, b'{"ok": true}'


def run(message):
    """Call the function; only an object or a list may come back."""
    if function is None:
        return 403, b'{"error": "cannot run the action before it is initialised"}'
    for name, value in message.items():
        if name != "value":
            os.environ[f"__OW_{name.upper()}"] = str(value)
    result = function(message.get("value") or {})
    if not isinstance(result, (dict, list)):
        kind = type(result).__name__
        return 502, json.dumps({"error": f"the function returned {kind}, must be an object or a list"}).encode()
    return 200, json.dumps(result, allow_nan=False).encode()


def end_activation():
    """What the contract asks for: the same last line on both outputs, after all that the function wrote."""
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
    for handle_ in 1, 2:
        try:
            os.write(handle_, MARK)
        except OSError:
            pass


def main():
    """Serve one connection at a time, or each in a thread where the function may run concurrently."""
    sys.path.extend(sys.argv[2:])
    concurrent = int(sys.argv[1]) > 1
    listener = _socket.socket(fileno=3)
    while True:
        handle_, _ = listener._accept()  # type: ignore[attr-defined]
        connection = _socket.socket(fileno=handle_)
        if concurrent:
            import _thread

            _thread.start_new_thread(serve, (connection,))
        else:
            try:
                serve(connection)
            except OSError:
                pass
            connection.close()


if __name__ == "__main__":
    main()
