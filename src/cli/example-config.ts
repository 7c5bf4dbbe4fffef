/**
 * The file that `tollgate init` writes. Lines with one `#` are settings, which work once the `# ` is removed. Editors
 * do that to a selection with one key. Lines with two are prose and stay comments.
 */
export const exampleConfig = `\
## Tollgate's declaration. It is read at start. What it declares can only be changed here.
## Everything in it can also be made with commands (tollgate provider, model, account), which keep it in the store.
## \${NAME} stands for an environment variable. Keys do not belong in a file.

## The built-in vendor answers without a model, for first steps and tests. Set it to false in production.
## If there are other vendors, only the first account and accounts whose 'models' name its models may use them.
## With true, every account may use them.
# sandbox: false

## Providers: connections to vendors. A preset knows the address (tollgate provider presets).
## Servers on this machine or a private network are called only if allow_private is true.
## A vendor's key in the environment (OPENAI_API_KEY …) adds its provider and its priced models without a line here.
# providers:
#   openai:
#     preset: openai
#     key: \${OPENAI_API_KEY}
#   local:
#     base_url: http://127.0.0.1:8000/v1
#     allow_private: true
#     concurrent_requests: 64
## Also: keys (several), proxy, headers, query, organization, project and ca (docs/operations.md).

## Models: what clients may request, its sale price (dollars per million tokens), and the offers that serve it.
## Offers with the lowest priority number are tried first. Offers of equal priority share requests by weight.
## An offer without a cost costs its vendor's list price, or the sale price if no list has one.
# models:
#   gpt-4.1-mini:
#     price: { input: 0.40, output: 1.60, cached_input: 0.10 }
#     output_tokens_max: 32768
#     offers:
#       - provider: openai
#         model: gpt-4.1-mini
#         cost: { input: 0.40, output: 1.60, cached_input: 0.10 }
#       - provider: local
#         model: some-local-model
#         cost: { input: 0, output: 0 }
#         priority: 1
#   painter:
#     kind: image
#     price: { input: 6, output: 12, image_input: 10, image_output: 40 }
#     image: { family: gpt-image }
#     offers:
#       - provider: openai
#         model: gpt-image-1.5

## Wildcards: every model that the price list has for a provider, at its list price and a mark-up.
# wildcards:
#   openai/*: { provider: openai, mark_up: 20% }

## Aliases: other names for models. A request by an alias is one for its model, at the price of the model.
# aliases:
#   gpt-4: gpt-4.1-mini

## Accounts: each has a balance, and keys that spend it (tollgate key create team --name my-app).
## The opening balance is credited once, when the account is created.
# accounts:
#   team:
#     opening_balance: 25.00
#     models: [gpt-4.1-mini, sandbox-chat]
#     limits: { requests_per_minute: 600, concurrent_requests: 50, spend_per_day: 20.00 }
`
