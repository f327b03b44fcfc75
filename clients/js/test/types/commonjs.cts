/** A frontend in CommonJS. */
import client = require("frontend-map-client");
import { proxy } from "frontend-map-client/next";

export const map = client.createFrontendMap({ url: "http://127.0.0.1:8080", site: "main" });
export const hook = proxy(map);
