"""model.py - a stand-in for the models of coding agents: a server on loopback with a script.

    model = Model([Edit("notes.txt", "one", "two"), Shell("make"), Say("done")], project, prompt)
    model.url                      http://127.0.0.1:PORT
    model.seen                     what the agent said came of each step, as text
    model.asked                    how many requests there were
    model.close()

It speaks what the agents speak: Anthropic's messages, OpenAI's responses and chat completions, and
Gemini's generateContent, streamed or whole.  Nothing is remembered between requests: the step is the
number of tool results in the conversation that an agent sends along, so a request that is
repeated gets the same answer.  A request that offers no shell tool, or in which the prompt stands in
other words, is a side one (a title, a summary): it is answered with a word.

A step names no tool: each agent calls its own by other names, and which it has is read from the
tools that it offers.  A file is read before it is edited where the agent's tool wants that, so
one step can be two calls.
"""

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Edit:
    """Change one text in a file of the project, with the agent's own tool."""

    path: str
    old: str
    new: str


@dataclass
class Shell:
    command: str


@dataclass
class Tool:
    """A tool of the server that is called sandbash."""

    name: str
    arguments: dict


@dataclass
class Say:
    text: str


SHELLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "exec")
# codex: JavaScript that calls the tools.  Left to itself it goes on to the next step after half a minute, while the
# command of this one still runs or waits for an answer.
SCRIPT = """// @exec: {"yield_time_ms": 600000}
async function whole(cmd) {
  let now = await tools.exec_command({cmd, yield_time_ms: 30000}), output = now.output;
  while (now.session_id !== undefined) {
    now = await tools.write_stdin({session_id: now.session_id, chars: "", yield_time_ms: 30000});
    output += now.output;
  }
  return output;
}
text(%s)
"""
# What gemini wants to know about a prompt before it chooses a model for it.
CLASSIFIED = json.dumps({"complexity_reasoning": "a step of the test", "complexity_score": 50})


def calls(step, tools, project):
    """The (tool, arguments) that a step is for an agent with these tools."""
    if isinstance(step, Shell):
        tool = next(name for name in SHELLS if name in tools)
        said = "a step of the test"
        if tool == "exec":
            return [(tool, SCRIPT % "await whole(%s)" % json.dumps(step.command))]
        if tool == "exec_command":
            return [(tool, {"cmd": step.command, "yield_time_ms": 30000})]
        if tool == "shell_command":
            return [(tool, {"command": step.command})]
        return [(tool, {"command": step.command, "description": said})]
    if isinstance(step, Tool):
        if "exec" in tools:
            arguments = json.dumps(step.arguments)
            return [("exec", SCRIPT % f"JSON.stringify(await tools.mcp__sandbash__{step.name}({arguments}))")]
        for name in (f"sandbash_{step.name}", f"mcp_sandbash_{step.name}"):
            if name in tools:
                return [(name, step.arguments)]
        return [(f"mcp__sandbash__{step.name}", step.arguments)]  # claude names it only in a message
    path = f"{project}/{step.path}"
    if "Edit" in tools:  # claude
        return [("Read", {"file_path": path}),
                ("Edit", {"file_path": path, "old_string": step.old, "new_string": step.new})]
    if "edit" in tools and "run_shell_command" in tools:  # qwen
        return [("read_file", {"file_path": path}),
                ("edit", {"file_path": path, "old_string": step.old, "new_string": step.new})]
    if "edit" in tools:  # opencode
        return [("read", {"filePath": path}),
                ("edit", {"filePath": path, "oldString": step.old, "newString": step.new})]
    if "replace" in tools:  # gemini
        return [("replace", {"file_path": path, "instruction": "a step of the test",
                             "old_string": step.old, "new_string": step.new})]
    patch = (f"*** Begin Patch\n*** Update File: {step.path}\n@@\n-{step.old}\n+{step.new}\n"
             "*** End Patch\n")
    if "exec" in tools:
        return [("exec", SCRIPT % f"await tools.apply_patch({json.dumps(patch)})")]
    if tools.get("apply_patch") == "custom":  # codex: free text instead of arguments
        return [("apply_patch", patch)]
    raise ValueError(f"no tool that edits among {sorted(tools)}")


def strings(value):
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def as_text(value):
    """All strings in a value: what a tool gave back, whatever its form."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "\n".join(as_text(part) for part in value if isinstance(part, (str, dict, list)))
    return ""


class Anthropic:
    """POST /v1/messages"""

    @staticmethod
    def tools(body):
        return {tool.get("name"): "function" for tool in body.get("tools") or []}

    @staticmethod
    def results(body):
        found = []
        for message in body["messages"]:
            if isinstance(message["content"], list):
                found += [as_text(part.get("content")) for part in message["content"]
                          if part.get("type") == "tool_result"]
        return found

    @staticmethod
    def answer(body, reply, number):
        if isinstance(reply, str):
            block, reason = {"type": "text", "text": reply}, "end_turn"
        else:
            block = {"type": "tool_use", "id": f"toolu_{number:024d}", "name": reply[0],
                     "input": reply[1]}
            reason = "tool_use"
        message = {"id": f"msg_{number:024d}", "type": "message", "role": "assistant",
                   "model": body.get("model", "stand-in"), "stop_sequence": None,
                   "usage": {"input_tokens": 10, "output_tokens": 10}}
        if not body.get("stream"):
            return {**message, "content": [block], "stop_reason": reason}
        empty = dict(block)
        if block["type"] == "text":
            empty["text"] = ""
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty["input"] = {}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events = [
            {"type": "message_start",
             "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
             "usage": {"output_tokens": 10}},
            {"type": "message_stop"}]
        return [(event["type"], event) for event in events]


class OpenAI:
    """POST /v1/responses"""

    @staticmethod
    def tools(body):
        found = {}
        more = [item for item in body.get("input") or []
                if isinstance(item, dict) and item.get("type") == "additional_tools"]
        waiting = [tool for source in [body, *more] for tool in source.get("tools") or []]
        while waiting:
            tool = waiting.pop()
            waiting += tool.get("tools") or []  # of a namespace
            found[tool.get("name")] = tool.get("type")
        return found

    @staticmethod
    def results(body):
        if not isinstance(body.get("input"), list):
            return []
        return [as_text(item.get("output")) for item in body["input"]
                if item.get("type") in ("function_call_output", "custom_tool_call_output")]

    @staticmethod
    def answer(body, reply, number):
        if isinstance(reply, str):
            item = {"type": "message", "role": "assistant", "id": f"msg_{number}",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": reply, "annotations": []}]}
        elif isinstance(reply[1], str):
            item = {"type": "custom_tool_call", "id": f"ctc_{number}", "status": "completed",
                    "call_id": f"call_{number}", "name": reply[0], "input": reply[1]}
        else:
            item = {"type": "function_call", "id": f"fc_{number}", "status": "completed",
                    "call_id": f"call_{number}", "name": reply[0],
                    "arguments": json.dumps(reply[1])}
        response = {"id": f"resp_{number}", "object": "response", "created_at": 0,
                    "model": body.get("model", "stand-in"), "status": "completed",
                    "output": [item], "error": None, "incomplete_details": None,
                    "usage": {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
                              "input_tokens_details": {"cached_tokens": 0},
                              "output_tokens_details": {"reasoning_tokens": 0}}}
        if not body.get("stream"):
            return response
        begun = {**response, "status": "in_progress", "output": [], "usage": None}
        events = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0,
             "item": {**item, "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response}]
        return [(event["type"], {**event, "sequence_number": at})
                for at, event in enumerate(events)]


class Chat:
    """POST /v1/chat/completions"""

    @staticmethod
    def tools(body):
        return {tool["function"].get("name"): "function" for tool in body.get("tools") or []}

    @staticmethod
    def results(body):
        return [as_text(message.get("content")) for message in body["messages"]
                if message.get("role") == "tool"]

    @staticmethod
    def answer(body, reply, number):
        said = {"role": "assistant", "content": reply}
        if not isinstance(reply, str):
            function = {"name": reply[0], "arguments": json.dumps(reply[1])}
            said = {"role": "assistant", "content": None, "tool_calls": [
                {"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}
        reason = "stop" if isinstance(reply, str) else "tool_calls"
        whole = {"id": f"chat_{number}", "created": 0, "model": body.get("model", "stand-in")}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        if not body.get("stream"):
            return {**whole, "object": "chat.completion", "usage": usage,
                    "choices": [{"index": 0, "message": said, "finish_reason": reason}]}
        whole["object"] = "chat.completion.chunk"
        return [(None, {**whole, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}),
                (None, {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
                (None, {**whole, "choices": [], "usage": usage}), (None, None)]


class Gemini:
    """POST /v1beta/models/NAME:generateContent and :streamGenerateContent"""

    @staticmethod
    def tools(body):
        return {one.get("name"): "function" for tool in body.get("tools") or []
                for one in tool.get("functionDeclarations") or []}

    @staticmethod
    def results(body):
        return [as_text(part["functionResponse"].get("response"))
                for content in body.get("contents") or []
                for part in content.get("parts") or [] if "functionResponse" in part]

    @staticmethod
    def answer(body, reply, number):
        wants = (body.get("generationConfig") or {}).get("responseMimeType")
        if isinstance(reply, str):
            part = {"text": CLASSIFIED if wants == "application/json" else reply}
        else:
            part = {"functionCall": {"id": f"call_{number}", "name": reply[0], "args": reply[1]}}
        whole = {"candidates": [{"content": {"role": "model", "parts": [part]},
                                 "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10,
                                   "totalTokenCount": 20},
                 "modelVersion": "stand-in"}
        return [(None, whole)] if body["streamed"] else whole


class Model:
    def __init__(self, steps, project, prompt):
        self.steps, self.project, self.prompt = steps, str(project), prompt
        self.asked = 0
        self.requests = []  # (path, body): for a person who looks for what went wrong
        self._results = []  # of the longest conversation so far
        self._tools = {}
        self._changed = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply(200, {"data": [], "models": [], "object": "list"})

            do_HEAD = do_GET

            def do_POST(self):
                length = int(self.headers.get("Content-Length") or 0)
                try:
                    body = json.loads(self.rfile.read(length) or b"{}")
                except ValueError:
                    body = {}
                try:
                    answer = model.serve(self.path, body)
                except Exception as reason:  # shown by the test that fails on it
                    answer = None
                    with model._changed:
                        model.requests.append((self.path, {"error": repr(reason)}))
                if answer is None:
                    self.reply(404, {"error": {"message": "not a part of the stand-in"}})
                elif isinstance(answer, dict):
                    self.reply(200, answer)
                else:
                    self.stream(answer)

            def reply(self, status, value):
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def stream(self, events):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for name, value in events:
                    if name:
                        self.wfile.write(f"event: {name}\n".encode())
                    data = json.dumps(value) if value else "[DONE]"
                    self.wfile.write(f"data: {data}\n\n".encode())
                self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # an agent that goes away in the middle

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def serve(self, path, body):
        """The answer to a request: a value, a list of events, or None."""
        path = path.split("?")[0]
        if path.endswith("/count_tokens"):
            return {"input_tokens": 10}
        if path.endswith(":countTokens"):
            return {"totalTokens": 10}
        if path.endswith("/messages"):
            shape = Anthropic
        elif path.endswith("/chat/completions"):
            shape = Chat
        elif path.endswith("/responses"):
            shape = OpenAI
        elif path.endswith(("enerateContent")):
            shape = Gemini
            body["streamed"] = "streamGenerateContent" in path
        else:
            return None
        tools = shape.tools(body)
        with self._changed:
            self.asked += 1
            number = self.asked
            self.requests.append((path, body))
            if not any(name in tools for name in SHELLS) or not self._is_turn(body):
                return shape.answer(body, "A turn of the test", number)
            results = shape.results(body)
            self._tools = tools
            if len(results) >= len(self._results):
                self._results = results
        plan = [call for step in self.steps if not isinstance(step, Say)
                for call in calls(step, tools, self.project)]
        if len(results) < len(plan):
            return shape.answer(body, plan[len(results)], number)
        last = next((step.text for step in self.steps if isinstance(step, Say)), "done")
        return shape.answer(body, last, number)

    def _is_turn(self, body):
        said = [body.get(name) for name in ("messages", "input", "contents")]
        return any(text.strip().strip('"') == self.prompt for text in strings(said))

    @property
    def seen(self):
        """What came back for each step that has an answer."""
        with self._changed:
            found, at = [], 0
            for step in self.steps:
                if isinstance(step, Say):
                    continue
                at += len(calls(step, self._tools, self.project)) if self._tools else 1
                if at <= len(self._results):
                    found.append(self._results[at - 1])
            return found

    @property
    def begun(self):
        """Has a request of the conversation itself come?"""
        with self._changed:
            return bool(self._tools)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
