import { Missing } from "@/components/missing";

export default Missing;
