// Words of the page that are too faint: [ratio, words] of each. Canvases draw their own, whose
// colours contrast.test.mjs looks at.
export const contrastFaults = (page) =>
  page.evaluate(() => {
    const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (text) => {
      probe.clearRect(0, 0, 1, 1);
      probe.fillStyle = text;
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const luminance = ([r, g, b]) => {
      const linear = [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const ratio = (a, b) => {
      const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
      return (light + 0.05) / (dark + 0.05);
    };
    // What is behind an element, from the page up.
    const behind = (element) => {
      const layers = [];
      for (let at = element; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
      return layers.reduce((under, layer) => over(layer, under), [255, 255, 255, 1]);
    };
    const opacity = (element) => {
      let product = 1;
      for (let at = element; at; at = at.parentElement) product *= Number(getComputedStyle(at).opacity);
      return product;
    };
    const faults = [];
    for (const element of document.querySelectorAll("body *")) {
      const words = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()).join(" ").trim();
      if (!words || ["SCRIPT", "STYLE", "TITLE", "NOSCRIPT", "OPTION"].includes(element.tagName) || element.disabled) continue;
      if (!element.checkVisibility({ visibilityProperty: true }) || element.getClientRects().length === 0) continue;
      const style = getComputedStyle(element);
      const back = behind(element);
      const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
      ink[3] *= opacity(element) || 1; // what is not seen is, when the pointer is there
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const found = ratio(over(ink, back), back);
      if (found < (isLarge ? 3 : 4.5)) faults.push([found.toFixed(2), words.slice(0, 60), element.className?.toString() ?? ""]);
    }
    return faults;
  });
