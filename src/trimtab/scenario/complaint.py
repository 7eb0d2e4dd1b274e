"""A validation error as one line that a person can act on: field, value, what is allowed."""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from trimtab.errors import TrimtabError, did_you_mean

_MUST = {
    "finite_number": "must be finite",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be one of: {expected}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping of settings",
    "model_attributes_type": "must be a mapping of settings",
    "model_instance_type": "must be a mapping of settings",
    "too_short": "must have at least {min_length} values",
    "too_long": "must have at most {max_length} values",
}


def complaint(error: ValidationError, raw: Any, model: type[BaseModel]) -> TrimtabError:
    """The first of pydantic's complaints in our words, and how many more there are."""
    details = error.errors(include_url=False)
    line = " ".join(_line(details[0], raw, model).split())
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return TrimtabError(line + more)


def _line(detail: ErrorDetails, raw: Any, model: type[BaseModel]) -> str:
    field, kind, context = _field(detail["loc"], raw), detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        keys = _keys_at(detail["loc"], raw, model)
        name = str(detail["loc"][-1])
        return f"{field}: unknown key, must be one of: {', '.join(keys)}{did_you_mean(name, keys)}"
    if kind == "missing":
        return f"{field} is missing, must be given"
    if kind == "value_error":
        message = str(context.get("error", detail["msg"]))
        is_whole = not field or isinstance(detail["input"], dict | BaseModel)
        prefix = f"{field}: " if field else ""
        return f"{prefix}{message}" if is_whole else f"{field} = {_show(detail['input'])}, {message}"
    if kind == "union_tag_invalid":
        tags = [tag.strip(" '") for tag in str(context["expected_tags"]).split(",")]
        tag = str(context["tag"])
        return f"{field}.source = {tag!r}, must be one of: {', '.join(tags)}{did_you_mean(tag, tags)}"
    if kind == "union_tag_not_found":
        return f"{field}.source is missing, must be given"
    if kind == "literal_error":
        allowed = str(context["expected"]).replace(" or ", ", ").replace("'", "")
        hint = did_you_mean(str(detail["input"]), allowed.split(", "))
        return f"{field} = {_show(detail['input'])}, must be one of: {allowed}{hint}"
    must = _MUST.get(kind, detail["msg"][:1].lower() + detail["msg"][1:])
    return f"{field} = {_show(detail['input'])}, {must.format(**context)}"


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _field(location: tuple[int | str, ...], raw: Any) -> str:
    """``functions.fib.work`` for ("functions", 3, "work"): elements by name where they have one."""
    parts: list[str] = []
    place = raw
    for step in location:
        if isinstance(place, list | tuple) and isinstance(step, int) and step < len(place):
            place = place[step]
            parts.append(str(place["name"]) if isinstance(place, dict) and place.get("name") else str(step))
        elif isinstance(place, dict) and (step in place or not _is_tag(place, step)):
            place = place.get(step)
            parts.append(str(step))
    return ".".join(parts)


def _is_tag(place: dict[Any, Any], step: int | str) -> bool:
    """Pydantic puts the tag of a union into the location; it is no key of the file."""
    return place.get("source") == step


def _keys_at(location: tuple[int | str, ...], raw: Any, model: type[BaseModel]) -> list[str]:
    """Names of the settings that the part at ``location`` has."""
    models: list[type[BaseModel]] = [model]
    place = raw
    for step in location[:-1]:
        place = _child(place, step)
        fields = [one.model_fields[str(step)] for one in models if str(step) in one.model_fields]
        if fields:
            models = [found for one in fields for found in _models_in(one.annotation)]
        tagged = [one for one in models if _has_tag(one, step)]
        models = tagged or models
    return sorted({name for one in models for name in one.model_fields})


def _child(place: Any, step: int | str) -> Any:
    if isinstance(place, dict):
        return place.get(step)
    return place[step] if isinstance(place, list) and isinstance(step, int) and step < len(place) else None


def _has_tag(model: type[BaseModel], step: int | str) -> bool:
    source = model.model_fields.get("source")
    return source is not None and step in get_args(source.annotation)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Every model that an annotation such as ``tuple[Function, ...] | None`` mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple, dict, list):
        return [found for argument in get_args(annotation) for found in _models_in(argument)]
    return []
