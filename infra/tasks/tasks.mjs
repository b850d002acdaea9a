/**
 * The tasks of `npm run`, the most used first: `npm run help` prints the list, `--help` after a task's name one of them.
 * Imports nothing, because it is read before anything is installed.
 */

/** The options of every program that is given properties. */
const propertyOptions = [
  ["--<property>=<value>", "sets a property; docs/reference/properties.md lists them"],
  ["--profile=<name>", "also reads signalbox.<name>.yaml"],
  ["--config-directory=<folder>", "the folder of these files, instead of the current one"],
];

const testOptions = [
  ["<path>", "runs the tests below it alone"],
  ["--slowest", "prints where the time went"],
  ["--<option of node --test>", "is handed on to it, such as --watch or --test-name-pattern=<words>"],
];

/**
 * `installs` marks a task that needs the packages of a start alone; the others need those for development too.
 *
 * @type {readonly {
 *   name: string, summary: string, installs?: "run", arguments?: string,
 *   options?: readonly (readonly [string, string])[], example: string,
 * }[]}
 */
export const tasks = [
  {
    name: "start",
    summary: "starts every service in one process, with its own PostgreSQL, and prints its addresses and a key",
    installs: "run",
    arguments: "--<property>=<value> …",
    options: [
      ["--http.port=<port>", "the public port; 8080 unless given"],
      [
        "--embedded.data-directory=<folder>",
        "where everything is kept that outlives the process; .signalbox unless given",
      ],
      [
        "--http.base-url=<url>",
        "the address that people open; browsers allow passkeys at a name, such as http://localhost:8080",
      ],
      ["--link", "prints another link that signs the first administrator in with a browser"],
      ...propertyOptions,
    ],
    example: "npm start -- --http.port=9000",
  },
  {
    name: "test",
    summary: "runs the checks, the unit and the integration tests; needs Node and npm alone",
    arguments: "<path> …",
    options: [
      ["<path>", "runs the tests below it alone, without the checks; a file named in full may be of any tier"],
      ["unit, int, engines, long", "runs the tests of this tier alone"],
      ...testOptions.slice(1),
    ],
    example: "npm test -- libs/events",
  },
  {
    name: "test:engines",
    summary: "runs the contract suites and journeys on real engines, with browsers and clients in other languages",
    arguments: "<path> …",
    options: testOptions,
    example: "npm run test:engines -- libs/events",
  },
  {
    name: "test:long",
    summary: "runs the rounds, storms, containers and upgrades; needs root and podman, and takes hours",
    arguments: "<word> …",
    options: [
      ["<word>", "runs the parts whose names contain it"],
      ["--list", "lists the parts"],
      ["--again", "runs the parts that have passed at this commit too"],
    ],
    example: "npm run test:long -- ledger",
  },
  {
    name: "check",
    summary: "checks types, format, lint, boundaries, dead code and generated files",
    arguments: "<word> …",
    options: [["<word>", "runs the checks alone whose names contain it"]],
    example: "npm run check -- types lint",
  },
  {
    name: "format",
    summary: "formats the code and repairs what the linter can repair",
    arguments: "<path> …",
    example: "npm run format -- libs/events",
  },
  {
    name: "generate",
    summary: "writes the generated files",
    options: [
      ["--check", "writes nothing; names each file in git that is stale and ends with 1"],
      ["--built", "writes only the files that git ignores and a start needs"],
    ],
    example: "npm run generate -- --check",
  },
  {
    name: "service",
    summary: "starts one service alone, on the engines that its properties name",
    installs: "run",
    arguments: "<service> --<property>=<value> …",
    options: propertyOptions,
    example: "npm run service -- images --http.port=8090",
  },
  {
    name: "engines",
    summary: "handles the real engines that tests use",
    arguments: "doctor | fetch | start | stop | status",
    options: [
      ["doctor", "prints which programs test:engines needs, which are missing, and how to install them"],
      ["fetch", "downloads the engines"],
      ["start, stop, status", "start (all, or `start kafka`) and stop them, and say which run"],
    ],
    example: "npm run engines -- doctor",
  },
  {
    name: "bench",
    summary: "measures one part of Signalbox beside its baseline",
    arguments: "<name>",
    options: [["<name>", "such as publish, images or start; without one, all of them are listed"]],
    example: "npm run bench -- publish",
  },
  {
    name: "migration",
    summary: "writes the migration from the last one to schema.prisma",
    arguments: "diff services/<service>/prisma --name <slug>",
    options: [
      ["--name <slug>", "the name of its folder"],
      ["--database-url <url>", "a PostgreSQL to try it on, instead of the engine of the tests"],
    ],
    example: "npm run migration -- diff services/images/prisma --name add_title",
  },
  {
    name: "accept",
    summary: "accepts compatible changes of the event schemas and refuses others",
    example: "npm run accept",
  },
  {
    name: "topics",
    summary: "creates the Kafka topics of the catalogue, corrects their settings and grants each service its rights",
    installs: "run",
    arguments: "[check | reader <name> <topic> …] --<property>=<value> …",
    options: [
      ["check", "changes nothing; prints what differs and ends with 1"],
      ["reader", "gives User:<name> exactly the rights to read these topics"],
      ...propertyOptions,
    ],
    example: "npm run topics -- check --events.url=kafka://127.0.0.1:9092",
  },
  {
    name: "groups",
    summary: "prints how far each consumer group has read, and moves one back or forward",
    installs: "run",
    arguments: "list [group] | rewind <group> --to <time>",
    options: [["--to <time>", 'an RFC 3339 time, "start" or "end"'], ...propertyOptions],
    example: "npm run groups -- list",
  },
  {
    name: "dead-letters",
    summary: "lists, replays and drops events that a consumer gave up",
    installs: "run",
    arguments: "list [service] | show <id> | replay <id> … | replay-all <service> | drop <id> …",
    options: propertyOptions,
    example: "npm run dead-letters -- list images",
  },
  {
    name: "dead-events",
    summary: "lists, replays and drops events that the event log refused",
    installs: "run",
    arguments: "list [service] | show <id> | replay <id> … | drop <id> …",
    options: propertyOptions,
    example: "npm run dead-events -- list account",
  },
  {
    name: "parked",
    summary: "lists keys that wait behind a failed message, shows it, and tries or skips it",
    installs: "run",
    arguments: "list [service] | show <id> | retry <id> … | skip <id> … --reason <why>",
    options: propertyOptions,
    example: "npm run parked -- list webhook-delivery",
  },
  {
    name: "backup",
    summary: "takes, verifies and restores a backup of all databases, events and blobs",
    installs: "run",
    arguments: "take <folder> | verify <folder> | restore <folder>",
    options: propertyOptions,
    example: "npm run backup -- take ../backup",
  },
  {
    name: "attack",
    summary: "tries every attack of docs/reference/security-tests.md on a system of its own",
    options: [
      ["--mode <mode>", "embedded or engines; embedded unless given"],
      ["--group <name>", "tries one group alone; may be repeated"],
    ],
    example: "npm run attack -- --group credentials",
  },
  {
    name: "aborts",
    summary: "leaves every operation and stream of a system of its own at random bytes, and looks what stays",
    options: [
      ["--minutes <number>", "10 unless given; a round that has begun is finished"],
      ["--seed <number>", "the same seed leaves in the same ways"],
      ["--target <part of a name>", "leaves these operations, streams or sockets alone"],
      ["--way <part of a name>", "leaves in these ways alone"],
    ],
    example: "npm run aborts -- --minutes 2 --target 'a stream'",
  },
  {
    name: "ledger",
    summary: "plays rounds of writes while processes and engines are killed, and judges each round",
    options: [
      ["--mode <mode>", "embedded or engines; embedded unless given"],
      ["--rounds <number>", "20 unless given"],
      ["--seed <number>", "the same seed plays the same faults"],
      ["--fault <part of a name>", "plays that fault alone"],
      ["--machines", "plays the faults of machines, such as full disks, one after another"],
      ["--short", "leaves out the faults that take long"],
      ["--keep", "keeps history and logs of right rounds too"],
    ],
    example: "npm run ledger -- --mode embedded --rounds 3",
  },
  {
    name: "incidents",
    summary: "plants incidents, waits for their alerts, and mends them by the commands of the runbooks; needs root",
    arguments: "[part of a name]",
    example: "npm run incidents -- lag",
  },
  {
    name: "containers",
    summary: "builds the image and tests what is deployed with it; needs root, podman, buildah, runc and debootstrap",
    arguments: "compose | options | small | move | kubernetes",
    options: [["--idle-minutes=<number>", "how long the pods of Kubernetes are left alone; 2 unless given"]],
    example: "npm run containers -- small",
  },
  {
    name: "upgrade-drill",
    summary: "rolls a system from an older version to this one and back under traffic",
    arguments: "[tag or commit]",
    options: [
      ["--rate <number>", "requests a second; 20 unless given"],
      ["--seconds <number>", "how long both versions run side by side; 60 unless given"],
    ],
    example: "npm run upgrade-drill -- v0.1.0",
  },
  {
    name: "pack",
    summary: "packs the client, the types of events, the deployment and the chart of this version, with their sums",
    arguments: "<folder> [client | event-types]",
    options: [["<folder>", "where the archives go; the current folder unless given"]],
    example: "npm run pack -- ../packages",
  },
  {
    name: "help",
    summary: "prints all tasks",
    installs: "run",
    arguments: "[task]",
    example: "npm run help -- start",
  },
];

/** The list of all tasks, one line each where the screen is wide enough. */
export function taskList() {
  const rows = tasks.map(({ name, summary }) => row(commandOf(name), summary, 23));
  return `Tasks of Signalbox\n\n${rows.join("\n")}\n\nMore about one of them: npm run <task> -- --help\n`;
}

/** Says what a task does, its options and an example. */
export function taskHelp(task) {
  const options = (task.options ?? []).map(([option, effect]) => row(option, effect, 36));
  return [
    usageOf(task),
    "",
    wrap(`${task.summary.charAt(0).toUpperCase()}${task.summary.slice(1)}.`, columns).join("\n"),
    ...(options.length > 0 ? ["", "Options:", ...options] : []),
    "",
    "Example:",
    `  ${task.example}`,
    "",
  ].join("\n");
}

function usageOf(task) {
  const given = task.arguments || task.options ? ` -- ${task.arguments ?? "[options]"}` : "";
  return wrap(`Usage: ${commandOf(task.name)}${given}`, columns - 7).join("\n       ");
}

/** The command of a task: npm knows two by their names alone. */
function commandOf(name) {
  return ["start", "test"].includes(name) ? `npm ${name}` : `npm run ${name}`;
}

const columns = 80;

/** A name and its text in two columns; a long name has a line of its own. */
function row(name, text, width) {
  const [first = "", ...others] = wrap(text, columns - width - 3);
  const indent = " ".repeat(width + 2);
  const begin = name.length < width ? `  ${name.padEnd(width)}${first}` : `  ${name}\n${indent}${first}`;
  return [begin, ...others.map((line) => `${indent}${line}`)].join("\n");
}

function wrap(text, width) {
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
