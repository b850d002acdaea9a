import { useQuery } from "@tanstack/react-query";
import { Answer, type AnswerProps } from "../../parts/answer.tsx";
import { Panel } from "../../parts/page.tsx";
import type { ReadAgain } from "../../parts/read-again.tsx";
import { Unavailable, type UnavailableProps } from "../unavailable.tsx";

interface OperationsPanelProps<Data> extends ReadAgain, Omit<AnswerProps<Data>, "query"> {
  readonly title: string;
  readonly read: () => Promise<Data>;
}

/** A panel of what the services answered, with those of them that did not. */
export function OperationsPanel<Data extends { readonly unavailable: UnavailableProps["services"] }>(
  props: OperationsPanelProps<Data>,
) {
  const { title, what, read, refetchInterval, children, ...shown } = props;
  const query = useQuery({ queryKey: ["operations", what], refetchInterval, queryFn: read });
  return (
    <Panel title={title}>
      <Answer query={query} what={what} {...shown}>
        {(data) => (
          <>
            <Unavailable services={data.unavailable} />
            {children(data)}
          </>
        )}
      </Answer>
    </Panel>
  );
}
