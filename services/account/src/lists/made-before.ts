import type { TimePosition } from "@signalbox/storage";

/** What follows a place in a list of things by when they were made, the newest first, and by id within one time. */
export const madeBefore = ({ at, id }: TimePosition) => ({
  OR: [{ createdAt: { lt: at } }, { createdAt: at, id: { lt: id } }],
});
