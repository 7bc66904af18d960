"""A client on the published Python SDK: the same as `client.mjs`.

    python client.py PROGRAM ... < /dev/null > FACTS
"""

import asyncio
import json
import os
import sys
import time

from mcp import ClientSession, StdioServerParameters, stdio_client, types

facts = {"forms": [], "progress": [], "errors": []}


async def elicited(context, params):
    choice = params.requested_schema["properties"]["choice"]
    choices = [option["const"] for option in choice["oneOf"]] if "oneOf" in choice else choice["enum"]
    facts["forms"].append({"message": params.message, "choices": choices})
    return types.ElicitResult(action="accept", content={"choice": "proceed_once"})


async def handled(message):
    # A line that is no message.
    if isinstance(message, Exception):
        facts["errors"].append(str(message))


def plain(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    command, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ), cwd=os.getcwd())

    async def told(progress, total, message):
        facts["progress"].append(message)

    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write, elicitation_callback=elicited, message_handler=handled) as client,
    ):
        facts["server"] = (await client.initialize()).server_info.name
        facts["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        first = await client.call_tool("pollux", {"prompt": "edit"}, progress_callback=told)
        facts["first"] = plain(first)
        session = facts["first"]["structuredContent"]["session_id"]
        reply = {"session_id": session, "prompt": "continue"}
        facts["second"] = plain(await client.call_tool("pollux-reply", reply, progress_callback=told))

        begun = asyncio.get_running_loop().create_future()

        async def began(progress, total, message):
            if not begun.done():
                begun.set_result(message.removeprefix("Session ID: "))

        held = asyncio.create_task(client.call_tool("pollux", {"prompt": "hold"}, progress_callback=began))
        session = await begun
        # Until the request has reached the model.
        await asyncio.sleep(0.5)
        before = time.monotonic()
        held.cancel()
        facts["cancelled"] = isinstance((await asyncio.gather(held, return_exceptions=True))[0], asyncio.CancelledError)
        reply = {"session_id": session, "prompt": "after"}
        facts["third"] = plain(await client.call_tool("pollux-reply", reply))
        facts["milliseconds"] = (time.monotonic() - before) * 1000
    print(json.dumps(facts))


asyncio.run(main())
