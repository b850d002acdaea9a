import type { Scope } from "../session/api.ts";

/** A page of the side bar, with the scope without which it would show nothing. */
export interface Place {
  readonly to: string;
  readonly name: string;
  readonly scope: Scope | null;
}

/** Places that belong together. One that has no name is shown without a heading. */
interface PlaceGroup {
  readonly name: string | null;
  readonly places: readonly Place[];
}

export const placeGroups: readonly PlaceGroup[] = [
  {
    name: null,
    places: [
      { to: "/", name: "Home", scope: null },
      { to: "/why", name: "Why", scope: "account:read" },
    ],
  },
  {
    name: "Webhooks out",
    places: [
      { to: "/webhooks/endpoints", name: "Endpoints", scope: "webhooks:read" },
      { to: "/webhooks/deliveries", name: "Deliveries", scope: "webhooks:read" },
      { to: "/webhooks/replays", name: "Replays", scope: "webhooks:read" },
      { to: "/webhooks/events", name: "Events", scope: "webhooks:read" },
      { to: "/webhooks/event-types", name: "Event types", scope: "webhooks:read" },
    ],
  },
  {
    name: "Webhooks in",
    places: [
      { to: "/webhooks/sources", name: "Sources", scope: "webhooks:read" },
      { to: "/webhooks/connect", name: "Connect a sender", scope: "webhooks:write" },
      { to: "/webhooks/received", name: "Received", scope: "webhooks:read" },
      { to: "/webhooks/rejections", name: "Rejected", scope: "webhooks:read" },
      { to: "/webhooks/bookmarks", name: "Bookmarks", scope: "webhooks:read" },
    ],
  },
  {
    name: null,
    places: [
      { to: "/images", name: "Images", scope: "images:read" },
      { to: "/account", name: "Account", scope: "account:read" },
    ],
  },
  {
    name: "Operations",
    places: [
      { to: "/operations", name: "Overview", scope: "operations:read" },
      { to: "/accounts", name: "Accounts", scope: "account:admin" },
      { to: "/properties", name: "Properties", scope: "config:read" },
      { to: "/proposals", name: "Proposals", scope: "config:admin" },
      { to: "/flags", name: "Flags", scope: "config:admin" },
    ],
  },
];

/** Returns the groups that have something for these scopes, with what they have. */
export const groupsFor = (scopes: readonly string[]): readonly PlaceGroup[] =>
  placeGroups
    .map(({ name, places }) => ({ name, places: places.filter(({ scope }) => !scope || scopes.includes(scope)) }))
    .filter(({ places }) => places.length > 0);

/** Returns true when a page is the place, or one below it. */
export const isWithin = (pathname: string, { to }: Place): boolean =>
  pathname === to || (to !== "/" && pathname.startsWith(`${to}/`));
