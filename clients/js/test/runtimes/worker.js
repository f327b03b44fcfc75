/** The checks as a worker: `/?service=<address>` for all of them, `/<path>?service=` for one visitor. */
import { failures, visit } from "./checks.js";

export const respond = async (request) => {
  const { pathname, searchParams } = new URL(request.url);
  const service = searchParams.get("service");
  return Response.json(pathname === "/" ? await failures(service) : await visit(service, pathname));
};

export default { fetch: respond };
