import { useQuery } from "@tanstack/react-query";
import { Answer, type AnswerProps } from "../../parts/answer.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import type { ReadAgain } from "../../parts/read-again.tsx";

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

interface UnavailableProps {
  readonly services: ReadonlyArray<{ readonly service: string; readonly message: string }>;
}

/** Says which services did not answer; what the others answered is shown. */
export function Unavailable({ services }: UnavailableProps) {
  if (services.length === 0) return null;
  return (
    <div role="alert" className={`${parts.notice} ${parts.bad}`}>
      <strong>Not all services answered. The rest is shown.</strong>
      <ul>
        {services.map(({ service, message }) => (
          <li key={service}>
            {service}: {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
