import { draft, eventOf } from "@signalbox/contracts";

/** Drafts an `image.updated` event; its title carries the value that the test expects. */
export function imageUpdated(subject: string, title: string) {
  return draft("image.updated", {
    subject,
    accountId: "acc_1",
    data: { ...eventOf("image.updated").example, id: subject, title },
  });
}

export const imageTopic = "signalbox.image.v1";
