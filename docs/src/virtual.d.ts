declare module "virtual:pages" {
  const pages: { slug: string; group: string; title: string; nav: string; description: string }[];
  export default pages;
}
declare module "virtual:reference" {
  const groups: import("../build/openapi").Group[];
  export default groups;
}
declare module "virtual:search" {
  const index: string;
  export default index;
}
declare module "virtual:twins" {
  const twins: Record<string, string>;
  export default twins;
}
declare module "*.md" {
  const Content: import("react").ComponentType<{ components?: Record<string, unknown> }>;
  export default Content;
}
