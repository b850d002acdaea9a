import type { Refusal } from "@signalbox/http";
import type { StoreOutcome } from "./uploads.ts";

/** Builds the refusal of a file that was not stored. */
export function refusalOf(result: Exclude<StoreOutcome, { outcome: "stored" }>): Refusal {
  switch (result.outcome) {
    case "not-accepted": {
      const { advice: message } = result;
      const details = [{ field: "file", code: "type_not_accepted", message } as const];
      return { code: "unsupported_media_type", message, details };
    }
    case "over-limit": {
      const { kind, code, message } = result.problem;
      const details = [{ field: "file", code, message }];
      if (kind === "too-large") return { code: "image_too_large", message, details };
      return { code: "validation_error", message, details };
    }
    case "crashed":
    case "out-of-memory":
    case "too-slow": {
      const message = "Decoding the image takes more memory or time than allowed for one image.";
      const details = [{ field: "file", code: "invalid", message } as const];
      return { code: "validation_error", message, details };
    }
    case "broken": {
      const { message } = result;
      const details = [{ field: "file", code: "not_an_image", message } as const];
      return { code: "validation_error", message, details };
    }
  }
}
