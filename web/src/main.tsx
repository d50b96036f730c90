import { render } from "preact";
import "./styles.css"; // before those of the tabs, which go beyond it
import { App } from "./app";
import { InlineSource, isServed } from "./inline_source";
import { ServedApp } from "./serve/app";
import { apply } from "./theme";

const page = document.getElementById("page");
if (page) {
  apply();
  const report = InlineSource.ofPage();
  if (report?.start && !location.hash) history.replaceState(null, "", `#${report.start}`);
  page.textContent = "";
  render(isServed() && !report ? <ServedApp /> : <App report={report} isServed={isServed()} />, page);
}
