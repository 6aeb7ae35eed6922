/** Try it: a real call to the server, with everything one would give it and everything it says. */
import { type ReactNode, useId, useState } from "react";

import type { Operation, Parameter } from "../../build/openapi";
import { type Answer, curlOf, type Draft, requestOf, send } from "./call";
import { useTyped } from "./secrets";

export function TryIt({ operation }: { operation: Operation }) {
  const [open, setOpen] = useState(false);
  if (!open) return <button type="button" className="try" onClick={() => setOpen(true)}>Try it</button>;
  return <Playground operation={operation} />;
}

function Playground({ operation }: { operation: Operation }) {
  const [typed, change] = useTyped();
  const [values, setValues] = useState<Record<string, string>>({});
  const [body, setBody] = useState(operation.body?.example ?? "");
  const [state, run] = useCall();
  const secret = operation.auth === "operator" ? "operator" : "apiKey";
  const draft: Draft = { server: typed.server, token: typed[secret], values, body };
  return (
    <form
      className="playground"
      aria-label={`Try ${operation.title}`}
      onSubmit={(event) => {
        event.preventDefault();
        void run(operation, draft);
      }}
    >
      <Labelled label="Server">{(id) => <input id={id} value={typed.server} onChange={(event) => change({ server: event.target.value })} spellCheck={false} />}</Labelled>
      {operation.auth ? (
        <Labelled label={secret === "operator" ? "ADMIN_SECRET" : "API key"} note="Stays in this page's memory only.">
          {(id) => <input id={id} type="password" autoComplete="off" value={typed[secret]} onChange={(event) => change({ [secret]: event.target.value })} placeholder={secret === "apiKey" ? "snp_…" : ""} />}
        </Labelled>
      ) : null}
      {operation.parameters.map((each) => (
        <Given key={each.in + each.name} parameter={each} value={values[each.name] ?? ""} onChange={(value) => setValues({ ...values, [each.name]: value })} />
      ))}
      {operation.body ? <Labelled label="Body">{(id) => <textarea id={id} rows={body.split("\n").length} value={body} onChange={(event) => setBody(event.target.value)} spellCheck={false} />}</Labelled> : null}
      <button type="submit" className="send" disabled={state.busy}>{state.busy ? "Sending…" : "Send"}</button>
      {state.fault ? <p role="alert" className="text-crash">{state.fault}</p> : null}
      {state.answer ? <Shown answer={state.answer} /> : null}
      <AsCurl operation={operation} draft={draft} />
    </form>
  );
}

function Labelled({ label, note, children }: { label: string; note?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="labelled">
      <label htmlFor={id}>{label}{note ? <span className="text-soft"> {note}</span> : null}</label>
      {children(id)}
    </div>
  );
}

function Given({ parameter, value, onChange }: { parameter: Parameter; value: string; onChange: (value: string) => void }) {
  const { name, required, choices, in: place } = parameter;
  const note = `${place}${required ? "" : ", optional"}`;
  return (
    <Labelled label={name} note={note}>
      {(id) =>
        choices.length > 0 ? (
          <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
            <option value="" />
            {choices.map((choice) => <option key={choice}>{choice}</option>)}
          </select>
        ) : (
          <input id={id} value={value} onChange={(event) => onChange(event.target.value)} spellCheck={false} placeholder={name === "metadata" ? "key=value" : ""} />
        )
      }
    </Labelled>
  );
}

interface CallState {
  busy: boolean;
  answer: Answer | null;
  fault: string;
}

function useCall(): [CallState, (operation: Operation, draft: Draft) => Promise<void>] {
  const [state, setState] = useState<CallState>({ busy: false, answer: null, fault: "" });
  async function run(operation: Operation, draft: Draft) {
    setState({ busy: true, answer: null, fault: "" });
    try {
      const request = requestOf(operation, draft);
      stayHere(draft.server);
      setState({ busy: false, answer: await send(request), fault: "" });
    } catch (error) {
      setState({ busy: false, answer: null, fault: faultOf(error) });
    }
  }
  return [state, run];
}

/** The policy of these pages lets them call their own server only; said before a key is on its way elsewhere. */
function stayHere(server: string): void {
  if (import.meta.env.DEV || new URL(server, location.href).origin === location.origin) return;
  throw new Error(`From here only ${location.origin} can be called. The curl below goes anywhere.`);
}

function faultOf(error: unknown): string {
  if (error instanceof TypeError) return "The server did not answer, or the address is none.";
  return error instanceof Error ? error.message : String(error);
}

function Shown({ answer }: { answer: Answer }) {
  const { status, reason, milliseconds, headers, body } = answer;
  return (
    <div className="shown" role="status">
      <p><span className="status" data-good={status < 400}>{status}</span> {reason} <span className="text-soft">in {milliseconds} ms</span></p>
      <details>
        <summary>{headers.length} headers</summary>
        <pre tabIndex={0} className="answer-headers">{headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
      </details>
      {body ? <pre tabIndex={0} className="answer-body">{body}</pre> : <p className="text-soft">No body.</p>}
    </div>
  );
}

function AsCurl({ operation, draft }: { operation: Operation; draft: Draft }) {
  let text: string;
  try {
    text = curlOf(operation, draft);
  } catch (error) {
    text = `# ${(error as Error).message}`;
  }
  return (
    <details className="as-curl">
      <summary>The same as curl</summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
