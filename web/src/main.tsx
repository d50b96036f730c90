import { render } from "preact";
import { App } from "./app";
import { InlineSource } from "./inline_source";
import "./styles.css";
import { apply } from "./theme";

const page = document.getElementById("page");
if (page) {
  apply();
  const start = document.querySelector("[data-start]")?.getAttribute("data-start");
  if (start && !location.hash) history.replaceState(null, "", `#${start}`);
  page.textContent = "";
  render(<App report={InlineSource.ofPage()} />, page);
}
