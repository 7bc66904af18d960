"""A server with tools of every kind, on a published SDK: `sample_server.py SDK TRANSPORT [PORT]`.

SDK is `mcp` or `fastmcp`, TRANSPORT is `stdio` or `http`. What a tool declares and returns is what the
SDK makes of the types of its function.
"""

import asyncio
import base64
import sys
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    number: int | None = None


class Person(BaseModel):
    """Somebody with addresses."""

    name: Annotated[str, Field(min_length=1, max_length=50, description="Name of the person")]
    addresses: list[Address] = []
    best_friend: "Person | None" = None


def words(text: str, times: int = 1) -> str:
    """Repeats a text."""
    return " ".join([text] * times)


def kinds(flag: bool, ratio: float, size: Literal["small", "large"], colour: Colour, maybe: str | None = None,
          tags: list[str] = [], pairs: dict[str, int] = {}) -> str:
    """Takes arguments of many types."""
    return f"{flag} {ratio} {size} {colour.value} {maybe} {tags} {pairs}"


def person(person: Person) -> Person:
    """Takes and returns a structure that refers to itself."""
    return person


def numbers(count: Annotated[int, Field(ge=0, le=10)]) -> list[int]:
    """Returns a list."""
    return list(range(count))


def nothing() -> None:
    """Returns nothing."""


def long_text(characters: int) -> str:
    """Returns a long text."""
    return "".join(f"line {number}\n" for number in range(characters // 10))


def fails(reason: str) -> str:
    """Fails always."""
    raise ValueError(reason)


async def slow(steps: int) -> str:
    """Takes a moment."""
    for _ in range(steps):
        await asyncio.sleep(0.05)
    return "finished"


def note() -> str:
    """A note."""
    return "Buy né 😀.\n"


def pixel() -> bytes:
    """A picture."""
    return PIXEL


def greet(name: str, mood: str = "kind") -> str:
    """Greets somebody."""
    return f"Greet {name} in a {mood} way."


TOOLS = (words, kinds, person, numbers, nothing, long_text, fails, slow)


def add_offers(server):
    """Adds the prompts and resources, which both SDKs declare alike."""
    server.resource("sample://note", mime_type="text/plain")(note)
    server.resource("sample://pixel", mime_type="image/png")(pixel)
    server.prompt()(greet)


def with_mcp(transport, port):
    from mcp.server.mcpserver import Image, MCPServer

    def picture() -> Image:
        """Returns a picture."""
        return Image(data=PIXEL, format="png")

    server = MCPServer("sample", instructions="Use the tools of the sample.")
    for tool in (*TOOLS, picture):
        server.tool()(tool)
    add_offers(server)
    if transport == "stdio":
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)


def with_fastmcp(transport, port):
    from fastmcp import Context, FastMCP
    from fastmcp.utilities.types import Image

    def picture() -> Image:
        """Returns a picture."""
        return Image(data=PIXEL, format="png")

    @dataclass
    class Answer:
        name: str
        age: int

    async def asks(ctx: Context) -> str:
        """Asks the user."""
        answer = await ctx.elicit("Who are you?", response_type=Answer)
        return f"{answer.data.name} is {answer.data.age}" if answer.action == "accept" else answer.action

    server = FastMCP("sample", instructions="Use the tools of the sample.")
    server.tool(asks)
    for tool in (*TOOLS, picture):
        server.tool(tool)
    add_offers(server)
    if transport == "stdio":
        server.run(show_banner=False)
    else:
        server.run("http", host="127.0.0.1", port=port, show_banner=False)


if __name__ == "__main__":
    sdk, chosen, *rest = sys.argv[1:]
    {"mcp": with_mcp, "fastmcp": with_fastmcp}[sdk](chosen, int(rest[0]) if rest else 0)
