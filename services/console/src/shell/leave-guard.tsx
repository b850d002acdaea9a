import { useBlocker } from "@tanstack/react-router";
import { Button } from "../parts/button.tsx";
import { Box } from "../parts/dialog.tsx";
import parts from "../parts/parts.module.css";
import { hasUnsent } from "../session/drafts.ts";

/** Asks before a person leaves a form with typed values, by a link, Back, a reload or closing. */
export function LeaveGuard() {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && hasUnsent(),
    enableBeforeUnload: hasUnsent,
    withResolver: true,
  });
  return (
    <Box
      title="Leave without saving?"
      role="alertdialog"
      isOpen={leaving.status === "blocked"}
      onClose={() => leaving.reset?.()}
    >
      <p>Your changes are not saved. The form keeps them until you close this tab.</p>
      <div className={parts.row}>
        <Button label="Stay" className="main" onClick={() => leaving.reset?.()} />
        <Button label="Leave" onClick={() => leaving.proceed?.()} />
      </div>
    </Box>
  );
}
