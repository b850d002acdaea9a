import { Link, type LinkProps as RouterLinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";

type Path = NonNullable<RouterLinkProps["to"]>;

interface LinkProps {
  readonly id: string;
  /** Default: the id itself. */
  readonly children?: ReactNode;
}

/** Makes the link to the page of a thing, which its id names in the address. */
const pageOf =
  (to: Path) =>
  ({ id, children = id }: LinkProps) => (
    <Link to={to} params={{ [to.split("$")[1]?.split("/")[0] ?? ""]: id } as never}>
      {children}
    </Link>
  );

/** Makes the link to a list, filtered by the id of a thing. */
const listOf =
  (to: Path, filter: string) =>
  ({ id, children = id }: LinkProps) => (
    <Link to={to} search={{ [filter]: id } as never}>
      {children}
    </Link>
  );

export const EndpointLink = pageOf("/webhooks/endpoints/$id");
export const SourceLink = pageOf("/webhooks/sources/$id");
export const DeliveryLink = pageOf("/webhooks/deliveries/$id");
export const ProposalLink = pageOf("/proposals/$id");
export const AccountLink = pageOf("/accounts/$id");
export const VerifyLink = pageOf("/webhooks/sources/$id/verify");
export const SourceReplaysLink = pageOf("/webhooks/sources/$id/replays");
export const RejectionRetriesLink = pageOf("/webhooks/sources/$id/rejection-retries");
export const ImageLink = pageOf("/images/$id");
export const ReceiptLink = pageOf("/images/deletions/$id");
export const PropertyLink = pageOf("/properties/$name");
export const FlagLink = pageOf("/flags/$key");
export const BookmarkLink = pageOf("/webhooks/bookmarks/$name");
export const GuideLink = pageOf("/webhooks/connect/$preset");
export const ApplicationLink = pageOf("/account/applications/$id");
export const EventDeliveriesLink = listOf("/webhooks/deliveries", "event_id");
export const EndpointDeliveriesLink = listOf("/webhooks/deliveries", "endpoint_id");
export const ReceivedLink = listOf("/webhooks/received", "source_id");
export const RejectionsLink = listOf("/webhooks/rejections", "source_id");
export const EventTypeLink = listOf("/webhooks/event-types", "name");
export const ParkedLink = listOf("/operations/parked", "service");
export const DeadEventsLink = listOf("/operations/dead-events", "service");
export const EndpointReplaysLink = listOf("/webhooks/replays", "endpoint_id");

/** Leads to everything that happened to an id. */
export const WhyLink = ({ id }: LinkProps) => (
  <Link to="/why/$id" params={{ id }}>
    Why?
  </Link>
);
