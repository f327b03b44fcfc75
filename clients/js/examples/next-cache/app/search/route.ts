// A route of the site itself.
export const GET = () => new Response("search");
