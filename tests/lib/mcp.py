"""mcp.py - a client of sandbash --mcp that says exactly what a test wants, byte by byte.

    server = Server(fx, "--deny=secret")           legacy: with initialize
    server = Server(fx, era="modern")              2026-07-28: _meta in every request
    result = server.call("read_text_file", path="a.txt")
    server.answers = lambda params: "once"         what the person says to an elicitation

A reader thread takes the server's lines; whatever is no JSON object on a line of its own fails
the test, since nothing but the protocol may be on standard output.
"""

import json
import os
import queue
import subprocess
import threading
import time

from tap import BIN, PATIENCE, Failed, check, with_flags

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
NO_FORM = object()  # an answer: the client cannot show it (legacy only)


def read_first(answer):
    """As a person answers, who takes longer than a client that answers by itself (ask.c, ALONE_MS)."""
    time.sleep(0.15)
    return answer


def accept(answer):
    return {"action": "accept", "content": {"answer": answer}}


class Server:
    def __init__(self, fx, *args, era="legacy", version=LEGACY, elicit=True, roots=None,
                 start=True, cwd=None, env=None, wrap=()):
        self.fx, self.era, self.elicit, self.roots = fx, era, elicit, roots
        self.last = 0
        self.answers = None  # function of the elicitation's params: a word, or a whole result
        self.asked = []      # every elicitation that came
        self.notes = []      # notifications
        self.garbage = []
        self.replies = {}
        self.orphans = queue.Queue()  # answers without an id
        self.arrived = threading.Condition()
        self.paused = threading.Event()  # while it is set, nothing is read
        words = [*wrap, str(BIN), "--mcp", *map(os.fspath, args)]
        self.process = subprocess.Popen(with_flags(words), cwd=cwd or fx.project, env=fx.env(env),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        fx._terminals.append(self)  # closed with the test, however it ends
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()
        self.errors = []
        threading.Thread(target=self._read_errors, daemon=True).start()
        if start and era == "legacy":
            self.hello = self.request("initialize", {
                "protocolVersion": version, "clientInfo": {"name": "test", "version": "1"},
                "capabilities": self.capabilities()})
            self.notify("notifications/initialized")

    def capabilities(self):
        found = {"elicitation": {}} if self.elicit else {}
        if self.roots is not None:
            found["roots"] = {"listChanged": True}
        return found

    # --- what comes ------------------------------------------------------------------------

    def _read(self):
        for line in self.process.stdout:
            while self.paused.is_set():
                time.sleep(0.01)
            try:
                message = json.loads(line)
                check(isinstance(message, (dict, list)))
            except (ValueError, Failed):
                self.garbage.append(line)
                continue
            for one in message if isinstance(message, list) else [message]:
                self._take(one)
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.decode(errors="replace"))

    def _take(self, message):
        if "method" in message and "id" in message:
            self._serve(message)
        elif "method" in message:
            with self.arrived:
                self.notes.append(message)
                self.arrived.notify_all()
        elif message.get("id") is None:
            self.orphans.put(message)
        else:
            with self.arrived:
                self.replies.setdefault(message["id"], []).append(message)
                self.arrived.notify_all()

    def _serve(self, message):
        """Requests of the server, as a client answers them."""
        if message["method"] == "roots/list":
            found = [{"uri": uri} for uri in self.roots]
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": found}})
            return
        with self.arrived:
            self.asked.append(message)
            self.arrived.notify_all()
        if self.answers:
            answer = self.answers(message["params"])
            if answer is not None:
                self.answer(message, answer)

    def answer(self, message, answer):
        reply = {"result": accept(answer) if isinstance(answer, str) else answer}
        if answer is NO_FORM:
            reply = {"error": {"code": -32601, "message": "no such method"}}
        self.send({"jsonrpc": "2.0", "id": message["id"], **reply})

    # --- what goes -------------------------------------------------------------------------

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def meta(self, **more):
        if self.era != "modern":
            return more
        return {META + "protocolVersion": MODERN, META + "clientInfo": {"name": "t", "version": "1"},
                META + "clientCapabilities": self.capabilities(), **more}

    def begin(self, method, params=None, **meta):
        """Send a request; its id."""
        self.last += 1
        params = dict(params or {})
        envelope = {**self.meta(**meta), **params.pop("_meta", {})}
        if envelope:
            params["_meta"] = envelope
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def wait(self, number, timeout=PATIENCE):
        """The answer to that request."""
        with self.arrived:
            self.arrived.wait_for(lambda: self.replies.get(number) or self.ended, timeout)
            check(self.replies.get(number), f"no answer to {number}: {''.join(self.errors)}")
            return self.replies[number][0]

    def wait_for(self, condition, what, timeout=PATIENCE):
        with self.arrived:
            check(self.arrived.wait_for(condition, timeout), f"nothing came: {what}")

    def wait_until(self, condition, what, timeout=PATIENCE):
        """For what only asking again can tell."""
        deadline = time.monotonic() + timeout
        while not condition():
            check(time.monotonic() < deadline, f"never came: {what}")
            time.sleep(0.02)

    def orphan(self, timeout=PATIENCE):
        try:
            return self.orphans.get(timeout=timeout)
        except queue.Empty:
            raise Failed("no answer without an id came") from None

    def request(self, method, params=None, timeout=PATIENCE, **meta):
        reply = self.wait(self.begin(method, params, **meta), timeout)
        if "result" not in reply:
            raise Failed(f"{method}: {reply}")
        return reply["result"]

    def error(self, method, params=None, **meta):
        reply = self.wait(self.begin(method, params, **meta))
        check("error" in reply, f"{method} went well: {reply}")
        return reply["error"]

    def call(self, name, timeout=PATIENCE, **arguments):
        """A tool call to its end; in the modern era with the rounds that questions need."""
        return self.finish_call(name, arguments, {}, timeout)

    def finish_call(self, name, arguments, more, timeout=PATIENCE):
        params = {"name": name, "arguments": arguments, **more}
        result = self.request("tools/call", params, timeout)
        if result.get("resultType") != "input_required":
            return result
        responses = {}
        for key, asked in result["inputRequests"].items():
            self.asked.append(asked)
            answer = self.answers(asked["params"]) if self.answers else read_first({"action": "cancel"})
            responses[key] = accept(answer) if isinstance(answer, str) else answer
        return self.finish_call(name, arguments, {"inputResponses": responses,
                                                  "requestState": result["requestState"]}, timeout)

    def data(self, name, **arguments):
        """The structured content of a call that must go well."""
        result = self.call(name, **arguments)
        check(not result.get("isError"), f"{name}: {result}")
        return result["structuredContent"]

    def failure(self, name, **arguments):
        """The error of a call that must not."""
        result = self.call(name, **arguments)
        check(result.get("isError"), f"{name} went well: {result}")
        return result["structuredContent"]["error"]

    # --- the end ---------------------------------------------------------------------------

    def end(self, timeout=PATIENCE):
        """Standard input ends: the exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout)

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed("the server did not end") from None
        finally:
            deadline = time.monotonic() + PATIENCE
            while not self.ended and time.monotonic() < deadline:
                time.sleep(0.01)
        check(not self.garbage, f"not the protocol: {self.garbage[:3]}")
