import { Link } from "@tanstack/react-router";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";

/** Shown while the code of a page comes. */
export const PageLoading = () => <p role="status">Loading …</p>;

/** Shown for an address that no page has. */
export const NotFound = () => (
  <Page title="Page not found">
    <p>
      The address may be mistyped, or from another version of the console. Go <Link to="/">home</Link>.
    </p>
  </Page>
);

/** Shown when the code of a page does not come, as after a new release, or fails. */
export const PageFailed = ({ error }: { readonly error: unknown }) => (
  <Page title="This page failed to load">
    <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
    <p>A newer version may have been deployed. Reload the page; you stay signed in.</p>
    <p>
      <Button label="Reload" className="main" onClick={() => location.reload()} />
    </p>
  </Page>
);
