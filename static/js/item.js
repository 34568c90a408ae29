// The page of one item: its run is read by the same keys as where it is judged.
import { listen } from "./keys.js";
import * as reader from "./reader.js";

listen({
  ...reader.keys(),
  "?": () => document.getElementById("keys").togglePopover(),
  Escape: (event) => reader.escape(event),
});

reader.open();
