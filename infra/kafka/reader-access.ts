import { catalogue } from "@signalbox/contracts";
import { serviceNames } from "@signalbox/core";

/** Topics for readers outside: those with an event for accounts or operators. The others are between the services. */
const readable = [...new Set(catalogue.filter(({ audience }) => audience !== "internal").map(({ topic }) => topic))];

/**
 * Returns the rights of a program of the house that reads topics: these, and groups whose names begin with its own.
 * @throws Error for a name that would reach the groups of a service, and for a topic that is none of readers
 */
export function readerAccess(name: string, topics: readonly string[]) {
  if (!/^[a-z][a-z0-9-]{2,63}$/.test(name))
    throw new Error(
      `The name of a reader has 3–64 lower-case letters, digits and hyphens, not ${JSON.stringify(name)}.`,
    );
  // Rights to groups go by prefix.
  const taken = ["signalbox", ...serviceNames].find((one) => one.startsWith(name) || name.startsWith(one));
  if (taken !== undefined) throw new Error(`The name ${name} is too close to ${taken}, whose groups it could join.`);
  if (topics.length === 0) throw new Error(`Name the topics to read: ${readable.join(", ")}`);
  const unknown = topics.find((topic) => !readable.some((one) => one === topic));
  if (unknown !== undefined) throw new Error(`${unknown} is no topic for readers. There are: ${readable.join(", ")}`);
  return { principal: `User:${name}`, reads: topics, writes: [], groupPrefix: name, describedGroups: [] };
}
