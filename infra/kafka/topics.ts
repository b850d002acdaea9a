import process from "node:process";
import { topics } from "@signalbox/contracts";
import { withEventLog } from "./open-log.ts";

/**
 * `npm run topics` creates the topics of the catalogue and corrects their settings; `npm run topics -- check` only says
 * what differs. Ends with 1 when something does.
 */
const argv = process.argv.slice(2);
const onlyChecks = argv.includes("check");

const problems = await withEventLog(argv, (eventLog) =>
  onlyChecks ? eventLog.verifyTopics(topics) : eventLog.ensureTopics(topics),
);
for (const { topic, problem } of problems) process.stderr.write(`${topic}: ${problem}\n`);
if (problems.length === 0) process.stdout.write(`${topics.length} topics are as the catalogue says\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
