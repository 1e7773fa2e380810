"""real.py - the coding agents themselves, as tests/agents starts them.

    agent = AGENTS["claude"]
    session = Session(fx, agent, steps)      a fresh home, a repository, a stand-in model
    session.native()                         without a terminal, without sandbash
    session.run("--quiet")                   the same under sandbash, with these options
    session.set_up()                         sandbash --setup AGENT --apply
    session.person()                         on a terminal, under sandbash: see person.py
    session.model.seen                       what each step gave back, as the model was told
    session.left()                           processes that are still there, of all it started

What is installed is said by tests/agents/node/package-lock.json; scripts/agents puts it into
$SANDBASH_AGENTS.
"""

import ctypes
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from model import Model
from pane import Pane
from person import Person
from tap import BIN, check, equal, skip

PLACE = Path(os.environ.get("SANDBASH_AGENTS") or Path(__file__).resolve().parents[3] / "build/agents")
PROMPT = "please begin"
SECONDS = int(os.environ.get("SANDBASH_AGENTS_SECONDS", "240"))  # for a whole turn: others use the processors, too


@dataclass
class Agent:
    name: str
    arguments: list  # without a terminal, before the prompt
    on_terminal: list
    ready: str  # what its prompt shows, a regular expression
    dialogs: list = field(default_factory=list)  # (what a dialog before it shows, the answer)
    settings: dict = field(default_factory=dict)  # files in the home directory
    leave: str = "\x03\x03"  # the keys that end it
    busy: str = "touch waits"  # what it shows while that command runs, a regular expression
    # What its profile gives it, for the control.
    alone: list = field(default_factory=list)
    alone_environment: dict = field(default_factory=dict)

    def environment(self, _url):
        return {}

    def options(self, _url):
        """Arguments that say where the model is."""
        return []


class Claude(Agent):
    def environment(self, url):
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "stand-in"}


class Codex(Agent):
    def environment(self, url):
        return {"STAND_IN_KEY": "stand-in"}

    def options(self, url):
        provider = (f'model_providers.standin={{name="standin",base_url="{url}/v1",'
                    'wire_api="responses",env_key="STAND_IN_KEY"}')
        return ["-c", 'model_provider="standin"', "-c", provider]


class Gemini(Agent):
    def environment(self, url):
        # it looks for a newer version at each start, wherever npm would
        return {"GEMINI_API_KEY": "stand-in", "GOOGLE_GEMINI_BASE_URL": url, "npm_config_registry": url}


class Opencode(Agent):
    def environment(self, url):
        model = "anthropic/claude-sonnet-4-5"
        return {"OPENCODE_CONFIG_CONTENT": json.dumps({
            "provider": {"anthropic": {"options": {"baseURL": f"{url}/v1", "apiKey": "stand-in"}}},
            "model": model, "small_model": model})}


class Qwen(Agent):
    def environment(self, url):
        return {"OPENAI_API_KEY": "stand-in", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "stand-in"}


# Each agent's own permission prompts are off: what stops it here is the sandbox or nothing.
AGENTS = {agent.name: agent for agent in (
    Claude("claude", ["--dangerously-skip-permissions", "-p"],
           # else it asks whether that is meant, and saves the answer, about which sandbash asks
           ["--dangerously-skip-permissions", "--settings", '{"skipDangerousModePermissionPrompt": true}'],
           ready=r"\? for shortcuts|bypass permissions on",
           dialogs=[("Choose the text style", "\r"), ("Security notes", "\r"),
                    ("Use Claude Code's terminal setup", "\x1b")],
           alone_environment={"CLAUDE_CODE_SANDBOXED": "1"}),
    Codex("codex", ["exec"], ["--ask-for-approval=never"], ready=r"›",
          busy="background terminal running",  # and nothing of the command
          alone=["--sandbox=danger-full-access"]),
    Gemini("gemini", ["--approval-mode=yolo", "-p"],
           ["--approval-mode=yolo"], ready=r"Type your message",
           # which of its logins it uses: a person chooses once
           settings={".gemini/settings.json": {
               "security": {"auth": {"selectedType": "gemini-api-key"}}}},
           alone_environment={"GEMINI_CLI_TRUST_WORKSPACE": "true"}),
    Opencode("opencode", ["run"], [], ready=r"Ask anything|ctrl\+p"),
    Qwen("qwen", ["--approval-mode=yolo", "--auth-type=openai", "-p"],
         ["--approval-mode=yolo", "--auth-type=openai"], ready=r"Type your message"),
)}
SET_UP = ("claude", "codex", "gemini", "opencode")  # those that --setup knows


def descendants():
    """Every process that descends from this one, as {pid: its command line}."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path("/proc", entry, "stat").read_text(errors="replace")
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
    found, fresh = set(), {os.getpid()}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    lines = {}
    for pid in found:
        try:
            lines[pid] = Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(
                errors="replace")
        except OSError:
            continue
    return lines


def adopt():
    """What loses its parent becomes a child of this process: so nothing gets away unseen."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Session:
    def __init__(self, fx, agent, steps):
        if not (PLACE / "node_modules" / ".bin" / agent.name).exists():
            skip(f"{agent.name} is not installed in {PLACE}: make test-agents does that")
        adopt()
        self.fx, self.agent = fx, agent
        self.before = set(descendants())
        fx.write("notes.txt", "one\n")
        # some agents clear the environment for servers
        fx.write(fx.home / ".gitconfig", "[user]\n\tname = Test\n\temail = test@example.org\n")
        fx.git_project()
        for name, value in agent.settings.items():
            fx.write(fx.home / name, json.dumps(value))
        self.model = Model(steps, fx.project, PROMPT)

    def environment(self):
        path = f"{PLACE}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin"
        return {"PATH": path, "TERM": "xterm-256color", "COLORTERM": "truecolor",
                **self.agent.environment(self.model.url)}

    def words(self, arguments):
        return [self.agent.name, *arguments, *self.agent.options(self.model.url)]

    def alone(self, arguments):
        """What starts it without a sandbox: the words, and the environment."""
        return (self.words([*self.agent.alone, *arguments]),
                {**self.environment(), **self.agent.alone_environment})

    def native(self, *more):
        """The whole turn without a sandbox."""
        words, env = self.alone(self.agent.arguments)
        return self.fx.run(*words, *more, PROMPT, env=env, timeout=SECONDS)

    def set_up(self, how="--apply"):
        """sandbash --setup AGENT; what it said."""
        done = self.fx.run(BIN, "--setup", self.agent.name, how)
        equal(done.status, 0, done.stderr)
        return done.stdout

    def run(self, *flags):
        """The whole turn under sandbash."""
        return self.fx.run(BIN, *flags, *self.words(self.agent.arguments), PROMPT,
                           env=self.environment(), timeout=SECONDS)

    def person(self):
        """Somebody at a terminal on which sandbash AGENT was started."""
        words = self.fx.argv(*self.words(self.agent.on_terminal))
        return Person.at(self.fx, Pane(self.fx, words, self.environment()))

    def person_alone(self, *arguments):
        """The same without sandbash, with these arguments."""
        words, env = self.alone(arguments)
        return Person.at(self.fx, Pane(self.fx, words, env))

    def record(self):
        """What sandbash wrote down about the runs in this home."""
        result = self.fx.run(BIN, "--log", "--json")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def left(self, seconds=20):
        """What is still running after that time of all that this session started."""
        deadline = time.monotonic() + seconds
        while True:
            reap()
            found = {pid: line for pid, line in descendants().items() if pid not in self.before}
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.1)

    def close(self):
        self.model.close()
        for pid in self.left(0):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        check(not self.left(), "processes that cannot be ended")
