/** A place that the committed offsets of a group are set to: the first record of this time or later, or an end of the log. */
export type RewindTarget = Date | "start" | "end";

/** @throws Error when somebody reads for the group: its members would not notice, and commit over it. */
export function refuseLiving(group: string, members: number): void {
  if (members === 0) return;
  const living = members === 1 ? "1 member is alive" : `${members} members are alive`;
  throw new Error(`The group ${group} cannot be rewound while ${living}. Stop every instance of its service first.`);
}

export function unknownGroup(group: string): Error {
  return new Error(`There is no group ${group} with committed offsets: see \`npm run groups -- list\`.`);
}
