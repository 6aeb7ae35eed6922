/** The browser's side: the page that was sent comes alive once its content is here too. */
import "./styles.css";

import { StrictMode } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";

import { App } from "./app";
import { load, pageOf, slugOf } from "./site";

const slug = slugOf(location.pathname.replace(/^\/docs/, ""));
const root = document.getElementById("root")!;
const app = (
  <StrictMode>
    <BrowserRouter basename="/docs">
      <App />
    </BrowserRouter>
  </StrictMode>
);

if (pageOf(slug)) await load(slug);
if (root.firstElementChild) hydrateRoot(root, app);
else createRoot(root).render(app);
