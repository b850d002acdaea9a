import process from "node:process";
import { topicAccess, topics } from "@signalbox/contracts";
import { topicSettings } from "@signalbox/events";
import { withEventLog } from "./open-log.ts";
import { readerAccess } from "./reader-access.ts";

/**
 * `npm run topics` creates the topics of the catalogue, corrects their settings, and gives each service exactly its
 * rights when `events.principals` names them; `npm run topics -- check` only lists the differences. Ends with 1 when
 * there are any. `npm run topics -- reader <name> <topic>…` gives another program exactly the rights to read these topics.
 */
const argv = process.argv.slice(2);
const onlyChecks = argv.includes("check");
const [word, name = "", ...wanted] = argv.filter((one) => !one.startsWith("--"));
const reader = word === "reader" ? readerAccess(name, wanted) : null;

const { problems, done } = await withEventLog(argv, async (eventLog, configuration) => {
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
});
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length === 0) for (const line of done) process.stdout.write(`${line}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
