import { configurationCommands } from "./configuration-commands.ts";
import { type Command, declare } from "./declare.ts";
import { webhookCommands } from "./webhook-commands.ts";

/** The commands around an account and its access. */
const accountCommands: readonly Command[] = [
  declare({
    name: "login",
    summary: "Sign in and save the sign-in in a profile",
    description:
      "Shows a code to enter on a Signalbox page in any browser. Programs without a browser set SIGNALBOX_API_KEY,\n" +
      "or save a key with --with-key. Profiles are stored in a file that only you can read.",
    options: {
      "with-key": { type: "boolean", describe: "Saves the API key read from standard input" },
      scope: { type: "string", value: "scopes", describe: "Requests only these scopes, separated by spaces" },
      "client-id": { type: "string", value: "id", describe: "Client id at another issuer, instead of cli" },
    },
    examples: [
      "signalbox login",
      "signalbox login --url https://signalbox.example --profile production",
      "signalbox login --with-key < key.txt",
    ],
    load: () => import("./commands/login.ts"),
  }),
  declare({
    name: "logout",
    summary: "Sign out of a profile and remove it",
    description:
      "Ends the tokens at the issuer. An API key is only removed here and stays valid: revoke it where it was created.",
    options: {},
    examples: ["signalbox logout", "signalbox logout --profile production"],
    load: () => import("./commands/logout.ts"),
  }),
  declare({
    name: "status",
    summary: "Show who is signed in and how webhooks are doing",
    description:
      "Shows the address, the credential with its scopes and expiry, and the deliveries of the last 24 hours.",
    options: {},
    examples: ["signalbox status", "signalbox status --json"],
    load: () => import("./commands/status.ts"),
  }),
  declare({
    name: "switch",
    summary: "List your accounts, or switch to another one",
    description:
      "You may be a member of other accounts. Later commands act for the chosen one until\n" +
      "the next switch. Without an account it lists them; own is your own.",
    args: [
      { name: "account", describe: "Id of the account, such as acc_5Yb0cPq7TnV2sKxW9mRdLh, or own", optional: true },
    ],
    options: {},
    examples: ["signalbox switch", "signalbox switch acc_5Yb0cPq7TnV2sKxW9mRdLh", "signalbox switch own"],
    load: () => import("./commands/switch.ts"),
  }),
  declare({
    name: "api",
    summary: "Send a request to any route",
    description:
      "Prints the response body as received; on a terminal JSON is indented and control characters are shown as text.\n" +
      "The method is optional: POST with fields or an input, otherwise GET, also with --paginate. Fields of a GET become its query.",
    args: [
      { name: "method", describe: "GET, POST, PUT, PATCH, DELETE or HEAD; may be left out", optional: true },
      { name: "path", describe: "Path of the route with its query, such as /images?limit=5", optional: true },
    ],
    options: {
      field: {
        type: "string",
        short: "F",
        multiple: true,
        value: "name=value",
        describe: "Field with a number, true, false, null or text; @file sends a form with that file",
      },
      "raw-field": { type: "string", short: "f", multiple: true, value: "name=text", describe: "Field that is text" },
      header: { type: "string", short: "H", multiple: true, value: "name: value", describe: "Request header" },
      input: { type: "string", value: "file", describe: "Request body, sent as is; - reads standard input" },
      include: { type: "boolean", short: "i", describe: "Prints the response status and headers first" },
      paginate: { type: "boolean", describe: "Reads every page of a list and prints one JSON item per line" },
      timeout: { type: "string", value: "seconds", describe: "Maximum wait for a response; 30 by default" },
      "dry-run": { type: "boolean", describe: "Prints the request without its credential and sends nothing" },
    },
    examples: [
      "signalbox api /images",
      "signalbox api POST /images -F file=@photo.jpg -f title='A harbour'",
      "signalbox api PATCH /api/account -F display_name=Ada",
      "signalbox api /api/v1/webhooks/deliveries -f status=exhausted --paginate",
    ],
    load: () => import("./commands/api.ts"),
  }),
  declare({
    name: "why",
    summary: "Show what happened to anything, by its id",
    description:
      "Takes the id of a delivery, an attempt, an event, a received webhook, an image, a key, a trace or a request, and prints\n" +
      "its history, oldest first: times, events, verdicts and reasons, and what is still to come.",
    args: [{ name: "id", describe: "Any id, such as whd_…, or a request id" }],
    options: {},
    examples: [
      "signalbox why whd_01m7yt1vt6et5vn6drq8e5238v",
      "signalbox why req_8f14e45fceea167a5a36dedd4bea2543 --json",
    ],
    load: () => import("./commands/why.ts"),
  }),
];

const completion = declare({
  name: "completion",
  summary: "Print a completion script",
  description: "Completes commands and options. Source it in your shell's startup file.",
  args: [{ name: "shell", describe: "bash, zsh or fish" }],
  options: {},
  examples: [
    "source <(signalbox completion bash)",
    "signalbox completion zsh > ~/.zfunc/_signalbox",
    "signalbox completion fish > ~/.config/fish/completions/signalbox.fish",
  ],
  load: async () => {
    const { createCompletion } = await import("./commands/completion.ts");
    return createCompletion(() => commands);
  },
});

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...webhookCommands,
  ...configurationCommands,
  completion,
];
