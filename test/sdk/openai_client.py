"""The official `openai` package for Python as a process of its own: orders in, what the package made of them out.

Usage: openai_client.py (loose|strict). Strict lets the package check every answer against its own models.
One line of JSON each way, see protocol.ts.
"""

import asyncio
import base64
import json
import sys
from platform import python_version

import openai
from pydantic import BaseModel

STRICT = sys.argv[1:] == ["strict"]


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]


# Kept, like in a program that runs for long: one that was failed or aborted must serve the next call as well.
CLIENTS = {}


def options(order):
    wanted = {
        "base_url": order["baseUrl"],
        "api_key": order["key"],
        "_strict_response_validation": STRICT,
        "max_retries": order.get("retriesMax"),
        "timeout": order["timeoutMs"] / 1000 if "timeoutMs" in order else None,
        "organization": order.get("organization"),
        "project": "proj_test" if "organization" in order else None,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def dump(model):
    return model.model_dump(mode="json", exclude_unset=True, warnings=False)


def answered(completion):
    return {"completion": dump(completion), "requestId": completion._request_id}


def describe(client, order):
    return {"runtime": f"python {python_version()}", "sdk": openai.__version__}


def create(client, order):
    return answered(client.chat.completions.create(**order["body"]))


def stream(client, order):
    opened = client.chat.completions.create(**order["body"], stream=True)
    chunks, error = [], None
    try:
        for chunk in opened:
            chunks.append(dump(chunk))
            if len(chunks) != order.get("stopAfter"):
                continue
            opened.close()
            break
    except Exception as thrown:
        error = seen_error(thrown)
    return {"chunks": chunks, "requestId": opened.response.headers["x-request-id"], "error": error}


def assemble(client, order):
    with client.chat.completions.stream(**order["body"]) as opened:
        for _ in opened:
            pass
        return {"completion": dump(opened.get_final_completion()), "requestId": None}


def parse(client, order):
    completion = client.chat.completions.parse(**order["body"], response_format=Person)
    return {**answered(completion), "parsed": dump(completion.choices[0].message.parsed)}


def tool_round(client, order):
    body = order["body"]
    first = client.chat.completions.create(**body)
    message = first.choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": order["result"]} for call in message.tool_calls]
    body = {name: value for name, value in body.items() if name != "tool_choice"}
    second = client.chat.completions.create(**{**body, "messages": [*body["messages"], message, *results]})
    return [answered(first), answered(second)]


def models(client, order):
    return [dump(model) for model in client.models.list()]


def model(client, order):
    return dump(client.models.retrieve(order["id"]))


def with_files(order):
    def png(name, base64_text):
        return (name, base64.b64decode(base64_text), "image/png")

    files = [png(f"{at}.png", one) for at, one in enumerate(order["pictures"])]
    body = {**order["body"], "image": files[0] if len(files) == 1 else files}
    return {**body, "mask": png("mask.png", order["mask"])} if "mask" in order else body


def image(client, order):
    if "pictures" in order:
        return dump(client.images.edit(**with_files(order)))
    return dump(client.images.generate(**order["body"]))


def image_stream(client, order):
    if "pictures" in order:
        return [dump(event) for event in client.images.edit(**with_files(order), stream=True)]
    return [dump(event) for event in client.images.generate(**order["body"], stream=True)]


def parallel(client, order):
    async def call_all():
        async with openai.AsyncOpenAI(**options(order)) as asynchronous:
            calls = [asynchronous.chat.completions.create(**order["body"]) for _ in range(order["times"])]
            return await asyncio.gather(*calls)

    return [answered(completion) for completion in asyncio.run(call_all())]


COMMANDS = {
    "describe": describe,
    "create": create,
    "stream": stream,
    "assemble": assemble,
    "parse": parse,
    "toolRound": tool_round,
    "models": models,
    "model": model,
    "parallel": parallel,
    "image": image,
    "imageStream": image_stream,
}


def seen_error(thrown):
    seen = {
        "name": type(thrown).__name__,
        "isApiError": isinstance(thrown, openai.APIError),
        "status": getattr(thrown, "status_code", None),
        "requestId": getattr(thrown, "request_id", None),
        "message": str(thrown),
    }
    return {**seen, **{name: getattr(thrown, name, None) for name in ("code", "param", "type")}}


def obey(order):
    try:
        wanted = options(order)
        name = json.dumps(wanted)
        if name not in CLIENTS:
            CLIENTS[name] = openai.OpenAI(**wanted)
        return {"seen": COMMANDS[order["command"]](CLIENTS[name], order)}
    except Exception as thrown:
        return {"error": seen_error(thrown)}


for line in sys.stdin:
    print(json.dumps(obey(json.loads(line))), flush=True)
