import { useQueryClient } from "@tanstack/react-query";
import { useFeed } from "./live-feed.ts";
import type { Live } from "./read-every.ts";

/**
 * Follows a subscription while the page is seen. After messages, and after each connection, the queries whose keys begin
 * with one of these names are read again, so that nothing is missed while a connection is made, or during a pause.
 */
export function useLiveReads(subscription: string, names: string, isOn = true): Live {
  const queries = useQueryClient();
  const read = () =>
    void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => names.split(" ").includes(String(name)) });
  return useFeed({ subscription, isOn, onBatch: read, onOpen: read });
}
