import { render } from "preact";
import { App } from "./app";
import { InlineSource } from "./inline_source";
import "./styles.css";
import { apply } from "./theme";

const page = document.getElementById("page");
if (page) {
  apply();
  page.textContent = "";
  render(<App report={InlineSource.ofPage()} />, page);
}
