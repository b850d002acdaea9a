import process from "node:process";
import { catalogue, topicAccess, topics } from "@signalbox/contracts";
import { serviceNames } from "@signalbox/core";
import { topicSettings } from "@signalbox/events";
import { openCommandLog } from "./engine-url.ts";

/** Topics for readers outside: those with an event for accounts or operators. The others are between the services. */
const readable = [...new Set(catalogue.filter(({ audience }) => audience !== "internal").map(({ topic }) => topic))];

/**
 * `npm run topics` creates the topics of the catalogue, corrects their settings, and gives each service exactly its
 * rights when `events.principals` names them; `npm run topics -- check` only lists the differences. Ends with 1 when
 * there are any. `npm run topics -- reader <name> <topic>…` gives another program exactly the rights to read these topics.
 */
const argv = process.argv.slice(2);
const onlyChecks = argv.includes("check");
const [word, name = "", ...wanted] = argv.filter((one) => !one.startsWith("--"));
const reader = word === "reader" ? readerAccess(name, wanted) : null;

const { problems, done } = await settle();
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length === 0) for (const line of done) process.stdout.write(`${line}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function settle(): Promise<{ readonly problems: readonly string[]; readonly done: readonly string[] }> {
  await using opened = new AsyncDisposableStack();
  const { eventLog, configuration } = await openCommandLog(argv, opened);
  if (reader) {
    const problems = await eventLog.ensureAccess([reader]);
    return { problems, done: [`${reader.principal} may read ${wanted.join(", ")}, in groups that begin with ${name}`] };
  }
  const { specs, access } = topicSettings(configuration, { topics, access: topicAccess });
  const found = await (onlyChecks ? eventLog.verifyTopics(specs) : eventLog.ensureTopics(specs));
  const rights = access.length === 0 ? [] : await eventLog[onlyChecks ? "verifyAccess" : "ensureAccess"](access);
  return {
    problems: [...found.map(({ topic, problem }) => `${topic}: ${problem}`), ...rights],
    done: [
      `${specs.length} topics match the catalogue`,
      ...(access.length > 0 ? [`${access.length} principals have exactly the required rights`] : []),
    ],
  };
}

/**
 * Returns the rights of a program of the house that reads topics: these, and groups whose names begin with its own.
 * @throws Error for a name that would reach the groups of a service, and for a topic that is none of readers
 */
function readerAccess(name: string, topics: readonly string[]) {
  if (!/^[a-z][a-z0-9-]{2,63}$/.test(name))
    throw new Error(
      `The name of a reader has 3–64 lower-case letters, digits and hyphens, not ${JSON.stringify(name)}.`,
    );
  // Rights to groups go by prefix.
  const taken = ["signalbox", ...serviceNames].find((one) => one.startsWith(name) || name.startsWith(one));
  if (taken !== undefined) throw new Error(`The name ${name} is too close to ${taken}, whose groups it could join.`);
  if (topics.length === 0) throw new Error(`Name the topics to read: ${readable.join(", ")}`);
  const unknown = topics.find((topic) => !readable.some((one) => one === topic));
  if (unknown !== undefined)
    throw new Error(`${unknown} is not a topic for readers. There are: ${readable.join(", ")}`);
  return { principal: `User:${name}`, reads: topics, writes: [], groupPrefix: name, describedGroups: [] };
}
