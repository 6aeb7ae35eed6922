/** Every endpoint, drawn from the committed OpenAPI document. */
import groups from "virtual:reference";

import type { Field, Operation, Response } from "../../build/openapi";
import { Text } from "./text";
import { TryIt } from "./try-it";

export function Reference() {
  return (
    <>
      <nav aria-label="Endpoints" className="endpoints">
        {groups.map(({ tag, operations }) => (
          <div key={tag}>
            <p className="font-semibold">{tag}</p>
            <ul>
              {operations.map(({ id, method, path }) => (
                <li key={id}>
                  <a href={`#${id}`}><Method method={method} /> {path}</a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      {groups.map(({ tag, operations }) => (
        <section key={tag} aria-label={tag}>
          <h2 id={tag.toLowerCase()} className="heading">{tag}</h2>
          {operations.map((operation) => <Endpoint key={operation.id} operation={operation} />)}
        </section>
      ))}
    </>
  );
}

function Method({ method }: { method: string }) {
  return <span className="method" data-method={method}>{method}</span>;
}

function Endpoint({ operation }: { operation: Operation }) {
  const { id, method, path, title, text, scope, auth, parameters, body, responses } = operation;
  return (
    <section className="endpoint" aria-labelledby={id}>
      <h3 id={id} className="heading">
        {title}
        <a href={`#${id}`} className="heading-link" aria-label="Link to this endpoint">#</a>
      </h3>
      <p className="endpoint-line"><Method method={method} /> <code>{path}</code></p>
      {text ? text.split("\n\n").map((each) => <p key={each}><Text>{each}</Text></p>) : null}
      <p className="text-sm text-soft">
        {auth === "apiKey" ? "Key of an account" : auth === "operator" ? "ADMIN_SECRET" : "No key"}
        {scope ? <> · scope <code>{scope}</code></> : null}
      </p>
      {parameters.length > 0 ? (
        <Part title="Parameters">
          <dl className="fields">
            {parameters.map((each) => <Row key={each.in + each.name} name={each.name} type={`${each.in} · ${each.type}`} required={each.required} text={each.text} />)}
          </dl>
        </Part>
      ) : null}
      {body ? <Part title="Body"><Fields fields={body.fields} /></Part> : null}
      <Answers responses={responses} />
      <TryIt operation={operation} />
    </section>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <details className="part" open={title !== "Answers"}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function Answers({ responses }: { responses: Response[] }) {
  const success = responses.find(({ fields }) => fields.length > 0);
  return (
    <Part title="Answers">
      <ul className="answers">
        {responses.map(({ status, text, headers }) => (
          <li key={status}>
            <span className="status" data-good={status < 400}>{status}</span> <Text>{text}</Text>
            {headers.length > 0 ? <span className="text-soft"> Headers: {headers.join(", ")}.</span> : null}
          </li>
        ))}
      </ul>
      {success ? <Fields fields={success.fields} /> : null}
    </Part>
  );
}

function Fields({ fields }: { fields: Field[] }) {
  return (
    <dl className="fields">
      {fields.map((field) => (
        <Row key={field.name} name={field.name} type={field.type} required={field.required} text={field.text}>
          {field.children.length > 0 ? <Fields fields={field.children} /> : null}
        </Row>
      ))}
    </dl>
  );
}

interface RowProps {
  name: string;
  type: string;
  required: boolean;
  text: string;
  children?: React.ReactNode;
}

function Row({ name, type, required, text, children }: RowProps) {
  return (
    <div className="field">
      <dt><code>{name}</code> <span className="text-soft">{type}{required ? "" : " · optional"}</span></dt>
      <dd><Text>{text}</Text>{children}</dd>
    </div>
  );
}
