// Light or dark: as the screen is set, until a person says otherwise.
import { byId } from "./dom.js";

export const startTheme = () => {
  const root = document.documentElement;
  const screen = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : screen.matches);
  const show = () => {
    const button = byId("theme");
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
  };
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  screen.addEventListener("change", show);
  show();
};
