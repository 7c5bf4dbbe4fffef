"""One task for one SDK: python run.py NAME, with ORIGIN, KEY and MODEL in the environment. Prints what the model says."""
import asyncio
import os
import sys

ORIGIN, KEY, MODEL = (os.environ[name] for name in ("ORIGIN", "KEY", "MODEL"))
QUESTION = "Ask for the secret word and tell it."


def secret_word() -> str:
    """Tells the secret word."""
    return "The word is XYZZY."


def pydantic_ai(model) -> str:
    from pydantic_ai import Agent

    agent = Agent(model, tools=[secret_word])
    return agent.run_sync(QUESTION).output


def pydantic_ai_chat() -> str:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return pydantic_ai(OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{ORIGIN}/v1", api_key=KEY)))


def pydantic_ai_responses() -> str:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return pydantic_ai(OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=f"{ORIGIN}/v1", api_key=KEY)))


def pydantic_ai_messages() -> str:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return pydantic_ai(AnthropicModel(MODEL, provider=AnthropicProvider(base_url=ORIGIN, api_key=KEY)))


def openai_agents(api: str) -> str:
    from agents import Agent, Runner, function_tool, set_default_openai_api, set_default_openai_client, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    set_default_openai_client(AsyncOpenAI(base_url=f"{ORIGIN}/v1", api_key=KEY, max_retries=0), use_for_tracing=False)
    set_default_openai_api(api)
    agent = Agent(name="Teller", instructions="Be brief.", model=MODEL, tools=[function_tool(secret_word)])
    return Runner.run_sync(agent, QUESTION).final_output


def instructor() -> str:
    import instructor
    from openai import OpenAI
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    client = instructor.from_openai(OpenAI(base_url=f"{ORIGIN}/v1", api_key=KEY, max_retries=0))
    messages = [{"role": "user", "content": "Somebody of one year."}]
    person = client.chat.completions.create(model=MODEL, response_model=Person, messages=messages, max_retries=0)
    return f"{person.age}: {person.name}"


def google_genai() -> str:
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=ORIGIN))
    # Bytes go out in the URL-safe alphabet.
    picture = types.Part.from_bytes(data=PICTURE, mime_type="image/png")
    config = types.GenerateContentConfig(tools=[secret_word], temperature=0.2)
    return client.models.generate_content(model=MODEL, contents=[picture, QUESTION], config=config).text


def llama_index() -> str:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai_like import OpenAILike

    llm = OpenAILike(
        model=MODEL, api_base=f"{ORIGIN}/v1", api_key=KEY, is_chat_model=True, is_function_calling_model=True, max_retries=0
    )

    async def run() -> str:
        return str(await FunctionAgent(tools=[secret_word], llm=llm).run(QUESTION))

    return asyncio.run(run())


# One point.
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082"
)

runs = {
    "pydantic-ai, chat": pydantic_ai_chat,
    "pydantic-ai, responses": pydantic_ai_responses,
    "pydantic-ai, messages": pydantic_ai_messages,
    "openai-agents, responses": lambda: openai_agents("responses"),
    "openai-agents, chat": lambda: openai_agents("chat_completions"),
    "instructor": instructor,
    "google-genai": google_genai,
    "LlamaIndex": llama_index,
}
print(runs[sys.argv[1]]())
