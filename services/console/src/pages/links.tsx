import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface LinkProps {
  readonly id: string;
  /** Default: the id itself. */
  readonly children?: ReactNode;
}

export const EndpointLink = ({ id, children = id }: LinkProps) => (
  <Link to="/webhooks/endpoints/$id" params={{ id }}>
    {children}
  </Link>
);

export const SourceLink = ({ id, children = id }: LinkProps) => (
  <Link to="/webhooks/sources/$id" params={{ id }}>
    {children}
  </Link>
);

export const PropertyLink = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <Link to="/properties/$name" params={{ name }}>
    {children}
  </Link>
);

/** Leads to everything that happened to an id. */
export const WhyLink = ({ id }: { readonly id: string }) => (
  <Link to="/why/$id" params={{ id }}>
    Why?
  </Link>
);
