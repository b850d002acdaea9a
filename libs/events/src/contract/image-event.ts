import { draft, eventOf } from "@signalbox/contracts";

/** A draft of `image.updated` whose title carries what the test wants to see arrive. */
export function imageUpdated(subject: string, title: string) {
  return draft("image.updated", {
    subject,
    accountId: "acc_1",
    data: { ...eventOf("image.updated").example, id: subject, title },
  });
}

export const imageTopic = "signalbox.image.v1";
