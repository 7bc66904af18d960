"""A client of the Agent Client Protocol on the published Python SDK: the same as `client.mjs`.

    python client.py < SCRIPT > RECORDING

Results and updates go through the SDK's types. A message that the types do not accept is recorded as
`rejected`.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path

import acp
from acp import schema
from acp.connection import StreamDirection

# Size in bytes of the longest message.
LONGEST = 64 << 20


def record(kind, value):
    os.write(1, json.dumps({kind: value}).encode() + b"\n")


class Rejections(logging.Handler):
    """Records what the SDK logs: messages that it does not accept."""

    def emit(self, entry):
        cause = entry.exc_info[1] if entry.exc_info else ""
        record("rejected", f"{entry.getMessage()} {cause}".strip())


class Editor:
    """The client's side: permissions, unsaved text and questions."""

    def __init__(self, script):
        self.permissions = list(script["permissions"])
        self.buffers = dict(script["buffers"])
        self.elicitations = list(script["elicitations"])
        self.cancelled = asyncio.Event()

    async def session_update(self, session_id, update, **rest):
        # The SDK's types drop what they do not know, which is not an error of the agent.
        pass

    async def request_permission(self, session_id, tool_call, options, **rest):
        wanted = self.permissions.pop(0) if self.permissions else "reject_once"
        if wanted == "wait":
            await self.cancelled.wait()
        for option in options:
            if option.kind == wanted:
                chosen = schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
                return schema.RequestPermissionResponse(outcome=chosen)
        return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))

    async def read_text_file(self, session_id, path, line=None, limit=None, **rest):
        try:
            content = self.buffers[path] if path in self.buffers else Path(path).read_text()
        except OSError:
            raise acp.RequestError(-32002, f"Resource not found: {path}") from None
        lines = content.splitlines(keepends=True)
        start = max((line or 1) - 1, 0)
        return schema.ReadTextFileResponse(content="".join(lines[start:][:limit]))

    async def write_text_file(self, session_id, path, content, **rest):
        self.buffers[path] = content
        return schema.WriteTextFileResponse()


    async def create_elicitation(self, message, mode, **rest):
        if not self.elicitations:
            return schema.CancelElicitationResponse(action="cancel")
        return schema.AcceptElicitationResponse(action="accept", content=self.elicitations.pop(0))


class Run:
    """One run of a script."""

    def __init__(self, script):
        self.script, self.editor = script, Editor(script)
        self.arrivals, self.arrived = [], asyncio.Event()
        self.saved, self.background = {}, {}

    def observe(self, event):
        incoming = event.direction is StreamDirection.INCOMING
        record("in" if incoming else "out", event.message)
        if incoming:
            self.arrivals.append(event.message)
            self.arrived.set()

    async def steps(self, agent, first, steps):
        for number, step in enumerate(steps, first):
            seen = len(self.arrivals)
            record("step", number)
            if "background" in step:
                self.background[step["background"]] = asyncio.create_task(self.request(agent, step))
                # A task starts when this one waits.
                await asyncio.sleep(0)
            elif step.get("notify"):
                await self.notify(agent, step)
            elif "method" in step:
                await self.within(self.request(agent, step), step["method"])
            if "finish" in step:
                await self.within(self.background[step["finish"]], step["finish"])
            if "until" in step:
                await self.until(step, seen if "method" in step else 0)
            if "pause" in step:
                await asyncio.sleep(step["pause"] / 1000)

    async def request(self, agent, step):
        method, params = step["method"], self.filled(step["params"])
        try:
            result = await send(agent, method, params)
        except acp.RequestError:
            # The recording has it.
            return
        for name, field in step.get("save", {}).items():
            self.saved[name] = getattr(result, field) if hasattr(result, field) else result.session_id

    async def notify(self, agent, step):
        params = self.filled(step["params"])
        await agent._conn.send_notification(step["method"], params)
        if step["method"] == "session/cancel":
            self.editor.cancelled.set()

    async def within(self, work, what):
        try:
            return await asyncio.wait_for(work, self.script["seconds"])
        except TimeoutError:
            raise RuntimeError(f"{what}: nothing for {self.script['seconds']} s") from None

    async def until(self, step, seen):
        wanted = self.filled(step["until"])
        while sum(matches(one, wanted) for one in self.arrivals[seen:]) < step.get("count", 1):
            self.arrived.clear()
            await self.within(self.arrived.wait(), f"until {json.dumps(wanted)}")

    def filled(self, value):
        if isinstance(value, str):
            for name, saved in self.saved.items():
                value = value.replace(f"${name}", saved)
            return value
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        if isinstance(value, dict):
            return {key: self.filled(one) for key, one in value.items()}
        return value


RESULTS = {
    "initialize": schema.InitializeResponse,
    "authenticate": schema.AuthenticateResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/close": schema.CloseSessionResponse,
    "session/prompt": schema.PromptResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
}


async def send(agent, method, params):
    """Sends a request as the script has it, which may be wrong, and reads the result by its type."""
    result = await agent._conn.send_request(method, params)
    return RESULTS[method].model_validate(result) if method in RESULTS else result


def matches(message, wanted):
    if not isinstance(wanted, dict):
        return message == wanted
    return isinstance(message, dict) and all(
        key in message and matches(message[key], one) for key, one in wanted.items()
    )


async def life(run, first, steps):
    """Starts an agent, makes the steps, and ends it."""
    script, problem = run.script, None
    command, *arguments = script["agent"]
    process = await asyncio.create_subprocess_exec(
        command,
        *arguments,
        cwd=script["folder"],
        env=script["environment"],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LONGEST,
    )
    errors = asyncio.create_task(process.stderr.read())
    output = Printed(process.stdout)
    agent = acp.ClientSideConnection(run.editor, process.stdin, output.copy, observers=[run.observe], use_unstable_protocol=True)
    try:
        await run.steps(agent, first, steps)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    await agent.close()
    process.stdin.close()
    try:
        code = await asyncio.wait_for(process.wait(), script["seconds"])
    except TimeoutError:
        process.kill()
        code = await process.wait()
    await output.finish
    stderr = (await errors).decode(errors="replace")
    end = {"exit": code, "stray": output.stray, "buffers": run.editor.buffers, "stderr": stderr}
    record("end", end | ({"problem": problem} if problem else {}))


async def main():
    script = json.load(sys.stdin)
    logging.getLogger().addHandler(Rejections())
    warnings.simplefilter("ignore")
    run, first, steps = Run(script), 0, script["steps"]
    while first <= len(steps):
        last = next((n for n in range(first, len(steps)) if steps[n].get("restart")), len(steps))
        await life(run, first, steps[first:last])
        if last < len(steps):
            subprocess.run(["sh", "-c", steps[last]["restart"]], check=True)
        first = last + 1
    os._exit(0)


class Printed:
    """The output of the agent: the SDK reads a copy of it, and lines that are not JSON are kept."""

    def __init__(self, output):
        self.output, self.stray = output, []
        self.copy = asyncio.StreamReader(limit=LONGEST)
        self.finish = asyncio.create_task(self.read())

    async def read(self):
        async for line in self.output:
            try:
                json.loads(line)
            except ValueError:
                self.stray.append(line.decode(errors="replace"))
            self.copy.feed_data(line)
        self.copy.feed_eof()


if __name__ == "__main__":
    asyncio.run(main())
