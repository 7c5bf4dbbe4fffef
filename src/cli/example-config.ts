/**
 * What `tollgate init` writes. Lines with one `#` are settings that work when the `# ` is taken away, which editors do
 * to a selection with one key; lines with two are prose and stay comments.
 */
export const exampleConfig = `\
## Tollgate's declaration. It is read at start; what it declares is changed here and nowhere else.
## Everything in it may also be made with the commands (tollgate provider, model, account), which keep it in the store.
## \${NAME} stands for a variable of the environment: keys do not belong in a file.

## The built-in vendor that answers without a model: for first steps and tests. Off in production: false.
## Beside other vendors only the first account has its models, and accounts whose 'models' name them; with true every
## account has them.
# sandbox: false

## Providers: connections to vendors. A preset knows the address (tollgate provider presets).
## Servers on this machine or a private network are called only where allow_private says so.
## A vendor's key in the environment (OPENAI_API_KEY …) adds its provider and its priced models without a line here.
# providers:
#   openai:
#     preset: openai
#     key: \${OPENAI_API_KEY}
#   local:
#     base_url: http://127.0.0.1:8000/v1
#     allow_private: true
#     concurrent_requests: 64

## Models: what clients may ask for, at which sale price (dollars per million tokens), and who serves it.
## Offers of the lowest priority number are tried first, equals by weight. Without a cost, an offer costs its
## vendor's list price, or the sale price where no list has one.
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

## Accounts: each has a balance, and keys that spend it (tollgate key create team --name my-app).
## The opening balance is given once, when the account is first made.
# accounts:
#   team:
#     opening_balance: 25.00
#     models: [gpt-4.1-mini, sandbox-chat]
#     limits: { requests_per_minute: 600, concurrent_requests: 50, spend_per_day: 20.00 }
`
