import { queryOptions } from "@tanstack/react-query";
import { api, versioned } from "../../session/api.ts";

/** The account of the signed-in person, as several pages show it. */
export type Account = Awaited<ReturnType<typeof readAccount>>["data"];

export const readAccount = () => versioned(api.GET("/api/account"));

export const accountQuery = queryOptions({ queryKey: ["account", "own"], queryFn: readAccount });
