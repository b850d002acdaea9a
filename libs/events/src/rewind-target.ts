/** Target of a rewind: the first record of this time or later, or an end of the log. */
export type RewindTarget = Date | "start" | "end";

/** Refuses a group with living members: they would not notice, and would commit over it. @throws Error */
export function refuseLiving(group: string, members: number): void {
  if (members === 0) return;
  const living = members === 1 ? "1 member is alive" : `${members} members are alive`;
  throw new Error(`The group ${group} cannot be rewound while ${living}. Stop every instance of its service first.`);
}

export function unknownGroup(group: string): Error {
  return new Error(`There is no group ${group} with committed offsets: see \`npm run groups -- list\`.`);
}
