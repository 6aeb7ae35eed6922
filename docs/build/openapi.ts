/** The shapes of the API reference, shared by what builds it and what draws it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

export interface Field {
  name: string;
  type: string;
  required: boolean;
  text: string;
  children: Field[];
}

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  type: string;
  text: string;
  choices: string[];
}

export interface Response {
  status: number;
  text: string;
  headers: string[];
  fields: Field[];
}

export interface Operation {
  id: string;
  tag: string;
  method: string;
  path: string;
  title: string;
  text: string;
  scope: string | null;
  auth: string | null;
  parameters: Parameter[];
  body: { fields: Field[]; example: string } | null;
  responses: Response[];
}

export interface Group {
  tag: string;
  operations: Operation[];
}
