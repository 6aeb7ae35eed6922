/** The browser's side: the page that was sent comes alive once its content is here too. */
import "./styles.css";

import { StrictMode } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";

import { App } from "./app";
import { GONE, load, pageOf, slugOf } from "./site";

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
// Somebody reads on after a release has replaced the files of this page: the address they went to, as it is now.
window.addEventListener(GONE, () => navigator.onLine && location.reload());
if (root.firstElementChild) hydrateRoot(root, app);
else createRoot(root).render(app);
