import { render } from "preact";
import { App } from "./app";
import { InlineSource } from "./inline_source";
import "./styles.css";
import { apply } from "./theme";

const page = document.getElementById("page");
if (page) {
  apply();
  const report = InlineSource.ofPage();
  if (report?.start && !location.hash) history.replaceState(null, "", `#${report.start}`);
  page.textContent = "";
  render(<App report={report} />, page);
}
